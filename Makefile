# The image, and what builds it: docker, podman or buildah.
IMG ?= controller:latest
CONTAINER_TOOL ?= docker
# The version that the binaries and the image print.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# What deploy, undeploy and build-installer build: config/default, or one of config/overlays.
OVERLAY ?= config/default
# Where a release's image and chart, and its files, are going to be. The defaults are made from the
# module's path and serve nothing: set your own.
REGISTRY ?= tutorial.kubebuilder.io/project
RELEASE_URL ?= https://tutorial.kubebuilder.io/project/releases/$(VERSION)
# How long `make fuzz` spends on each fuzz target.
FUZZTIME ?= 1m
ignore-not-found ?= true

# Not set by default:
#   GO_IMAGE, BASE_IMAGE  other base images than those of the Dockerfile, which are pinned by digest
#   K8S                   a minor version: test, demo, chaos-smoke and all else that starts a control plane
#                         takes that of hack/controlplane/releases, and not the newest
#   UPGRADE_FROM          the release from which test-e2e upgrades: hack/baseline has the default
#   PUSH                  how test-e2e takes that release's image to the nodes, such as kind load docker-image
#   FORCE=1               has uninstall and undeploy delete the CronJobs in the cluster
#   COSIGN_KEY            the key that release and release-push sign with: a file, env://NAME or a KMS's URI
#   VULNDB                where audit looks up vulnerabilities: https://vuln.go.dev or file:///…
#   RUNARGS, BENCHARGS, CHAOSARGS  further arguments of run, bench and chaos
#   TESTARGS              further arguments of `go test` in test, test-e2e and test-ui

# A recipe stops at the first command that fails, also within a pipe.
SHELL := /usr/bin/env bash -o pipefail
.SHELLFLAGS := -ec

export K8S
K8S_BIN := bin/k8s$(addprefix -,$(K8S))
GOLANGCI_LINT := bin/golangci-lint
PROMTOOL := bin/promtool
CONTROLLER_GEN := go tool controller-gen
KUSTOMIZE := go tool kustomize
LDFLAGS = -X main.version=$(VERSION)

# The cluster of the e2e tests has buildah, and base images by tag only.
ifeq ($(notdir $(CONTAINER_TOOL)),buildah)
GO_IMAGE := $(or $(GO_IMAGE),golang:1.26)
BASE_IMAGE := $(or $(BASE_IMAGE),gcr.io/distroless/static:nonroot)
endif
REVISION = $(shell git rev-parse HEAD 2>/dev/null)
IMAGE_ARGS = $(foreach name,VERSION REVISION GO_IMAGE BASE_IMAGE,$(if $($(name)),--build-arg $(name)=$($(name))))

# Without kubectl on the PATH, the control plane's, which the targets that need it build.
KUBECTL ?= $(or $(shell which kubectl 2>/dev/null),$(K8S_BIN)/kubectl)
KUBECTL := $(KUBECTL)
BUILT_KUBECTL := $(if $(filter $(K8S_BIN)/kubectl,$(KUBECTL)),control-plane-test)

.PHONY: all
all: build

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*##"; printf "\nUsage:\n  make \033[36m<target>\033[0m\n"} \
		/^[a-zA-Z_0-9-]+:.*?##/ {printf "  \033[36m%-20s\033[0m %s\n", $$1, $$2} \
		/^##@/ {printf "\n\033[1m%s\033[0m\n", substr($$0, 5)}' $(MAKEFILE_LIST)

##@ Development (manifests, generate, chart, fmt and lint-fix write files that git tracks)

.PHONY: manifests
manifests: ## Generate the CRD, the manager's role and the webhook configurations.
	$(CONTROLLER_GEN) rbac:roleName=manager-role crd:generateEmbeddedObjectMeta=true webhook \
		paths=./apis/... paths=./controllers/... paths=./internal/webhook/... paths=. \
		output:crd:dir=config/crd/bases output:rbac:dir=config/rbac output:webhook:dir=config/webhook
	go run ./hack/crdschema config/crd/bases/*.yaml config/crd/without-webhooks/not-served.yaml

.PHONY: chart
chart: ## Copy into the Helm chart what it takes from config.
	cp config/crd/bases/*_cronjobs.yaml config/webhook/manifests.yaml config/rbac/role.yaml config/rbac/cronjob_*_role.yaml config/prometheus/rules.yaml charts/cronjob-operator/files/
	cp config/grafana/*.json charts/cronjob-operator/files/dashboards/

.PHONY: generate
generate: ## Generate the DeepCopy methods and copy Go's time zones.
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./apis/...
	install -m 644 "$$(go env GOROOT)/lib/time/zoneinfo.zip" internal/schedule/zoneinfo.zip

.PHONY: fmt
fmt: ## Format the code.
	go fmt ./...

.PHONY: vet
vet: ## Run go vet.
	go vet ./...

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Run the linters.
	$(GOLANGCI_LINT) run --build-tags=addversion,e2e,ui
	for module in hack/audit hack/chart/helmtest hack/release test/alerts; do (cd "$$module" && $(CURDIR)/$(GOLANGCI_LINT) run); done

.PHONY: lint-fix
lint-fix: $(GOLANGCI_LINT) ## Run the linters and apply their fixes.
	$(GOLANGCI_LINT) run --fix

.PHONY: verify verify-generated verify-alerts
verify: verify-generated verify-alerts vet lint ## Check generated files, format, go.mod and the alerts, and run vet and the linters.

verify-generated:
	@hack/verify-generated

verify-alerts: $(PROMTOOL) ## Check the alerts of config/prometheus and run their unit tests, with promtool, and check the dashboards.
	go -C test/alerts test -count=1 ./...

##@ Test

# KUBEBUILDER_ASSETS names another control plane than the one in K8S_BIN, which is built as needed.
TESTED_CONTROL_PLANE := $(if $(KUBEBUILDER_ASSETS),,control-plane)
export KUBEBUILDER_ASSETS := $(or $(KUBEBUILDER_ASSETS),$(CURDIR)/$(K8S_BIN))

# Not cached: Go does not know that tests depend on config/ and on the binaries that they build.
.PHONY: test
test: $(PROMTOOL) $(TESTED_CONTROL_PLANE) ## Run the tests, against a real API server where they need one, and print the coverage.
	go test -count=1 -timeout=30m -coverpkg=./internal/...,./apis/... -coverprofile=cover.all.out $(TESTARGS) ./...
	go -C hack/audit test -count=1 $(TESTARGS) ./...
	go -C hack/chart/helmtest test -count=1 $(TESTARGS) ./...
	@grep -v zz_generated cover.all.out >cover.out
	@go tool cover -func=cover.out | tail -n 1

.PHONY: test-e2e
test-e2e: $(BUILT_KUBECTL) ## Test the pushed (for kind: loaded) image IMG on the current cluster, which must have cert-manager and no CronJobs.
	$(check-cluster)
	E2E_IMG=$(IMG) CONTAINER_TOOL='$(CONTAINER_TOOL)' go test -tags=e2e -count=1 -timeout=45m -v $(TESTARGS) ./test/e2e

.PHONY: test-ui
test-ui: control-plane build ## Test the page of kubectl cronjob ui in a browser: 2 minutes. SCREENSHOTS=docs/ui makes those of the docs.
	axe=$$(hack/ui-tools) && go test -tags=ui -count=1 $(TESTARGS) ./test/ui -args -axe="$$axe" -screenshots=$(CURDIR)/$(or $(SCREENSHOTS),bin/ui)

.PHONY: test-addversion
test-addversion: control-plane-test $(GOLANGCI_LINT) ## Add a version v3 to a copy of the tree by CONTRIBUTING.md, and test it: about 2 minutes. HUB=1 then makes v2 the hub.
	test/addversion/run

.PHONY: test-rename
test-rename: control-plane-test $(GOLANGCI_LINT) ## Give a copy of the tree other names by docs/copy.md, and test it: about 3 minutes.
	test/rename/run

.PHONY: test-release
test-release: ## Make a release of the newest commit twice, push, sign and verify it: 2 minutes, the first time longer.
	go -C hack/release test -count=1 -timeout=60m $(TESTARGS) ./...

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME.
	@FUZZTIME='$(FUZZTIME)' hack/fuzz

.PHONY: bin/bench/bench bin/chaos/chaos
bin/bench/bench bin/chaos/chaos:
	go build -o $@ ./test/$(@F)

# bench, chaos and demo run in make's place, so that Ctrl-C and kill reach them and they clean up.
.PHONY: bench
bench: control-plane build bin/bench/bench ## Measure the operator beside the built-in CronJob controller, in tables for docs/performance.md: about an hour and a half.
	@exec bin/bench/bench $(BENCHARGS)

.PHONY: bench-smoke
bench-smoke: control-plane build bin/bench/bench ## A short form, which fails on counts and never on times: about 3 minutes.
	@exec bin/bench/bench -stages=ticks,idle,micro -contenders=operator -n=200 -objects=2000 -idle=20s -results=bin/bench/smoke.json

.PHONY: soak
soak: control-plane build bin/bench/bench ## Half an hour in which CronJobs come, run and go, at the end of which memory and goroutines are as before.
	@mkdir -p bin/bench/soak
	@exec bin/bench/bench -stages=churn -results=bin/bench/soak/results.json

.PHONY: chaos
chaos: control-plane bin/chaos/chaos ## Ten minutes of faults, after which a checker decides, and prints the table of docs/reliability.md.
	@exec bin/chaos/chaos $(CHAOSARGS)

.PHONY: chaos-seeds
chaos-seeds: control-plane bin/chaos/chaos ## A storm for each of SEEDS="1 2 3", one after another: about 14 minutes each. PREVIOUS is a commit to update from and back to.
	CGO_ENABLED=0 go build -o bin/chaos/manager ./test/chaos/manager
	$(if $(PREVIOUS),rm -rf bin/chaos/tree && mkdir bin/chaos/tree && git archive $(PREVIOUS) | tar -x -C bin/chaos/tree)
	$(if $(PREVIOUS),CGO_ENABLED=0 go build -C bin/chaos/tree -o ../previous ./test/chaos/manager && rm -rf bin/chaos/tree)
	@failed=; for seed in $(or $(SEEDS),$(error SEEDS is empty: say make chaos-seeds SEEDS="1 2 3")); do \
	  bin/chaos/chaos -manager=bin/chaos/manager $(if $(PREVIOUS),-previous=bin/chaos/previous) -seed=$$seed -out=bin/chaos/$$seed $(CHAOSARGS) || failed="$$failed $$seed"; \
	done; if [ -n "$$failed" ]; then echo "failed with these seeds:$$failed" >&2; exit 1; fi

.PHONY: chaos-smoke
chaos-smoke: control-plane bin/chaos/chaos ## 90 seconds of it, always the same, about what happens and not when: about 3 minutes.
	@exec bin/chaos/chaos -seed=1 -duration=90s -calm=10s -cronjobs=60 -slowness=4

.PHONY: chaos-mutations
chaos-mutations: control-plane bin/chaos/chaos ## Break each law on purpose and see the checker catch it, in a table for docs/reliability.md: about 15 minutes.
	@exec bin/chaos/chaos -mutations=all -out=bin/chaos/mutations

.PHONY: model
model: control-plane-test ## A million decisions of the reconciler, judged by a model: about 10 minutes. RUNS and SEED say how many, and where to begin.
	go test -count=1 -timeout=2h -run='^TestModel$$' ./controllers/batch \
	  -args -model.decisions=$(or $(RUNS),1000000) -model.seed=$(or $(SEED),1) -model.failures=20

.PHONY: demo
demo: control-plane build build-plugin ## Run the operator against a control plane on this machine and show what it does.
	go build -o bin/demo ./hack/demo
	@exec bin/demo

##@ Dependencies

# check-linked BINARIES: their licences and versions, and with VULNDB known vulnerabilities.
define check-linked
bin/audit/audit -policy=hack/audit/policy.yaml $(1)
$(if $(VULNDB),for binary in $(1); do go -C hack/audit tool govulncheck -db='$(VULNDB)' -mode=binary $(CURDIR)/$$binary; done)
endef

# Built as for the image: for Linux, on any machine.
.PHONY: audit-binaries bin/audit/audit
audit-binaries: bin/audit/audit
	VERSION='$(VERSION)' GOOS=linux hack/build . bin/audit/manager
	VERSION='$(VERSION)' GOOS=linux hack/build ./cmd/kubectl-cronjob bin/audit/kubectl-cronjob

bin/audit/audit:
	@go build -C hack/audit -o ../../$@ .

.PHONY: audit
audit: audit-binaries ## Check the licences and versions of all that is linked, and go.sum, offline. With VULNDB, also look up vulnerabilities.
	go mod verify
	$(call check-linked,bin/audit/manager bin/audit/kubectl-cronjob)

.PHONY: audit-image
audit-image: audit-binaries ## Check the image IMG: that this source and VERSION make its manager, its licence texts, and what audit checks.
	CONTAINER_TOOL='$(CONTAINER_TOOL)' hack/audit/image '$(IMG)'
	$(call check-linked,bin/image/manager)

##@ Build

.PHONY: build
build: ## Build the manager: bin/manager.
	CGO_ENABLED=0 go build -ldflags "$(LDFLAGS)" -o bin/manager .

.PHONY: build-plugin
build-plugin: ## Build the kubectl plugin: bin/kubectl-cronjob, and bin/kubectl_complete-cronjob for completion.
	CGO_ENABLED=0 go build -ldflags "$(LDFLAGS)" -o bin/kubectl-cronjob ./cmd/kubectl-cronjob
	install -m 755 cmd/kubectl-cronjob/kubectl_complete-cronjob bin/kubectl_complete-cronjob

.PHONY: run
run: build $(BUILT_KUBECTL) ## Run the manager from here against the current cluster. Without certificates: make run ENABLE_WEBHOOKS=false
	$(check-cluster)
	exec bin/manager $(RUNARGS)

.PHONY: docker-build
docker-build: ## Build the image IMG. IMAGE_FLAGS are further flags for CONTAINER_TOOL.
	$(CONTAINER_TOOL) build $(IMAGE_FLAGS) $(IMAGE_ARGS) -t $(IMG) .

.PHONY: docker-push
docker-push: ## Push the image IMG.
	$(CONTAINER_TOOL) push $(IMG)

.PHONY: build-installer
build-installer: ## Write all that `make deploy` applies, with the image IMG, to dist/install.yaml.
	$(image-overlay)
	@mkdir -p dist
	$(KUSTOMIZE) build bin/overlay >dist/install.yaml

##@ Release (docs/releases.md)

.PHONY: release bin/release/release
release: bin/audit/audit bin/release/release ## Make the release VERSION=v1.2.3 of the commit in dist, offline. With COSIGN_KEY, also sign it.
	VERSION='$(VERSION)' REGISTRY='$(REGISTRY)' RELEASE_URL='$(RELEASE_URL)' hack/release/build dist
	$(if $(COSIGN_KEY),COSIGN_KEY='$(COSIGN_KEY)' hack/release/sign dist)

bin/release/release:
	@go build -C hack/release -o ../../$@ .

.PHONY: release-push
release-push: ## Push the image and the chart in dist to REGISTRY. With COSIGN_KEY, also sign them there.
	COSIGN_KEY='$(COSIGN_KEY)' hack/release/push dist '$(REGISTRY)'

##@ Deployment

.PHONY: install
install: $(BUILT_KUBECTL) ## Install the CRD with v1 only, for `make run ENABLE_WEBHOOKS=false`.
	$(check-cluster)
	$(KUSTOMIZE) build config/crd/without-webhooks | $(KUBECTL) apply -f -
	@KUBECTL='$(KUBECTL)' hack/await-crd

.PHONY: uninstall
uninstall: $(BUILT_KUBECTL) ## Delete the CRD. FORCE=1 also deletes the CronJobs in the cluster; without it, they prevent this.
	$(check-cluster)
	KUBECTL='$(KUBECTL)' FORCE='$(FORCE)' hack/delete-cronjobs
	$(KUSTOMIZE) build config/crd/without-webhooks | $(KUBECTL) delete --ignore-not-found=$(ignore-not-found) -f -

.PHONY: deploy
deploy: $(BUILT_KUBECTL) ## Deploy the operator with the image IMG. Needs cert-manager.
	$(check-cluster)
	@$(KUBECTL) get crd certificates.cert-manager.io >/dev/null 2>&1 || { echo "$@: the cluster has no cert-manager, which makes the webhooks' certificate. Install it with: kubectl apply -f https://github.com/cert-manager/cert-manager/releases/latest/download/cert-manager.yaml"; exit 1; }
	$(image-overlay)
	$(KUSTOMIZE) build bin/overlay | $(KUBECTL) apply -f -
	@KUBECTL='$(KUBECTL)' hack/await-crd

.PHONY: undeploy
undeploy: $(BUILT_KUBECTL) ## Delete the operator and the CRD. FORCE=1 also deletes the CronJobs in the cluster; without it, they prevent this.
	$(check-cluster)
	KUBECTL='$(KUBECTL)' FORCE='$(FORCE)' hack/delete-cronjobs
	$(KUSTOMIZE) build config/crd | $(KUBECTL) delete --ignore-not-found=$(ignore-not-found) -f -
	$(KUSTOMIZE) build $(OVERLAY) | $(KUBECTL) delete --ignore-not-found -f -

define check-cluster
@$(KUBECTL) get --raw /version --request-timeout=10s >/dev/null 2>&1 || { echo "$@: no cluster answers. Is one running, and does KUBECONFIG or the current context of kubectl name it?"; exit 1; }
endef

# $(OVERLAY) with another image, outside config/, where it would change a file that git tracks.
define image-overlay
@[ -n '$(IMG)' ] || { echo "$@: IMG is empty. Name the image: make $@ IMG=<registry>/<image>:<tag>"; exit 1; }
@rm -rf bin/overlay && mkdir -p bin/overlay
@printf '%s\n' 'apiVersion: kustomize.config.k8s.io/v1beta1' 'kind: Kustomization' 'resources:' '- ../../$(OVERLAY)' >bin/overlay/kustomization.yaml
@cd bin/overlay && $(KUSTOMIZE) edit set image controller=$(IMG)
endef

##@ Control plane and tools, built from source

.PHONY: control-plane-test control-plane
control-plane-test: ## Build what the tests need into bin/k8s, or with K8S=1.35 into bin/k8s-1.35: etcd, kube-apiserver, kube-controller-manager, kubectl.
	@hack/controlplane/build tests

control-plane: ## Build all that runs Jobs: also the scheduler, and kwok in the place of nodes.
	@hack/controlplane/build jobs

# remove_all_sd leaves out service discovery, which is most of what there is to compile.
$(PROMTOOL): test/alerts/go.mod
	@echo "Building promtool into bin: 2 minutes the first time on 2 cores, seconds once Go has it cached."
	go build -C test/alerts -tags=remove_all_sd -o ../../$@ github.com/prometheus/prometheus/cmd/promtool
	@touch $@

$(GOLANGCI_LINT): hack/tools/go.mod
	@echo "Building golangci-lint into bin: a few minutes the first time, seconds once Go has it cached."
	go build -C hack/tools -o ../../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@
