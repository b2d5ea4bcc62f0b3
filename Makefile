# What the image is called.
IMG ?= controller:latest
# What builds and pushes it: docker, podman or buildah.
CONTAINER_TOOL ?= docker
# The bases of the image; those of the Dockerfile, pinned by digest, unless they are given.
GO_IMAGE ?=
BASE_IMAGE ?=
# What `make docker-buildx` builds for.
PLATFORMS ?= linux/amd64,linux/arm64
# What the binaries and the image say to --version.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# Below which URL the archives of `make build-krew` are going to be.
RELEASE_URL ?=
# A database of vulnerabilities that `make audit` asks as well, such as https://vuln.go.dev or file:///….
VULNDB ?=
# How long `make fuzz` spends on each fuzz target.
FUZZTIME ?= 1m
# Whether uninstall and undeploy take what is gone already for a success.
ignore-not-found ?= true
# Further arguments for the manager of `make run`, for `make demo`, for `make bench` (such as -stages=ticks -n=1000),
# for `make chaos` (such as -seed=42), and for the `go test` of `make test`.
RUNARGS ?=
DEMOARGS ?=
BENCHARGS ?=
CHAOSARGS ?=
TESTARGS ?=

# 1 has uninstall and undeploy delete the CronJobs there are.
FORCE ?=

CRD := cronjobs.batch.tutorial.kubebuilder.io
CRONJOBS_V1 := cronjobs.v1.batch.tutorial.kubebuilder.io

# A recipe fails with the first of its commands, the first of a pipe too.
SHELL := /usr/bin/env bash -o pipefail
.SHELLFLAGS := -ec

K8S_BIN := bin/k8s
GOLANGCI_LINT := bin/golangci-lint
PROMTOOL := bin/promtool
CONTROLLER_GEN := go tool controller-gen
KUSTOMIZE := go tool kustomize
LDFLAGS = -X main.version=$(VERSION)

# buildah is what the tests' cluster has, without a registry beyond its own: there the bases are known by
# their tags alone. GO_IMAGE and BASE_IMAGE pin them.
ifeq ($(notdir $(CONTAINER_TOOL)),buildah)
GO_IMAGE := $(or $(GO_IMAGE),golang:1.26)
BASE_IMAGE := $(or $(BASE_IMAGE),gcr.io/distroless/static:nonroot)
endif
IMAGE_ARGS = $(foreach name,VERSION GO_IMAGE BASE_IMAGE,$(if $($(name)),--build-arg $(name)=$($(name))))

# With no kubectl on the PATH, the control plane's own, built where a target needs it.
KUBECTL ?= $(or $(shell which kubectl 2>/dev/null),$(K8S_BIN)/kubectl)
KUBECTL := $(KUBECTL)
BUILT_KUBECTL := $(filter $(K8S_BIN)/kubectl,$(KUBECTL))

.PHONY: all
all: build

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*##"; printf "\nUsage:\n  make \033[36m<target>\033[0m\n"} \
		/^[a-zA-Z_0-9-]+:.*?##/ {printf "  \033[36m%-20s\033[0m %s\n", $$1, $$2} \
		/^##@/ {printf "\n\033[1m%s\033[0m\n", substr($$0, 5)}' $(MAKEFILE_LIST)

##@ Development

# Only manifests, generate, chart, fmt and lint-fix write files that git tracks. Nothing else runs them on the
# quiet; `make verify` tells when they were forgotten.

.PHONY: manifests
manifests: ## Generate the CRD, the manager's role and the webhook configurations.
	$(CONTROLLER_GEN) rbac:roleName=manager-role crd:generateEmbeddedObjectMeta=true webhook \
		paths=./apis/... paths=./controllers/... paths=./internal/webhook/... paths=. \
		output:crd:dir=config/crd/bases output:rbac:dir=config/rbac output:webhook:dir=config/webhook
	go run ./hack/crdschema config/crd/bases/*.yaml

.PHONY: chart
chart: ## Copy into the Helm chart what it takes from config.
	cp config/crd/bases/*_cronjobs.yaml config/webhook/manifests.yaml config/rbac/role.yaml config/rbac/cronjob_*_role.yaml \
		config/prometheus/rules.yaml charts/project/files/

.PHONY: generate
generate: ## Generate the DeepCopy methods.
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./apis/...

.PHONY: fmt
fmt: ## Format the code.
	go fmt ./...

.PHONY: vet
vet: ## Run go vet.
	go vet ./...

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Run the linters.
	$(GOLANGCI_LINT) run --build-tags=e2e
	for module in hack/audit hack/chart/helmtest test/alerts test/bench/plots; do (cd "$$module" && $(CURDIR)/$(GOLANGCI_LINT) run); done

.PHONY: lint-fix
lint-fix: $(GOLANGCI_LINT) ## Run the linters and let them mend what they can.
	$(GOLANGCI_LINT) run --fix

.PHONY: verify
verify: verify-generated verify-tidy verify-alerts vet lint ## Check that generated files, format and go.mod are up to date, the alerts, vet and lint.

# Runs in a copy, so that it changes nothing here and tells no difference that was there before.
.PHONY: verify-generated
verify-generated:
	@echo "Checking generated files and format"
	@rm -rf bin/verify && mkdir -p bin/verify/tree
	@git ls-files -z --cached --others --exclude-standard \
		| while IFS= read -r -d '' file; do if [ -e "$$file" ]; then printf '%s\0' "$$file"; fi; done \
		| tar --null --files-from=- -cf - | tar -xf - -C bin/verify/tree
	@cp -R bin/verify/tree bin/verify/made
	@$(MAKE) --no-print-directory -C bin/verify/made generate manifests chart fmt >bin/verify/log 2>&1 || { cat bin/verify/log; exit 1; }
	@(cd bin/verify && diff -ruN tree made) || { \
		echo "verify: the difference above is what \`make generate manifests chart fmt\` would change: run it and commit the result"; exit 1; }
	@rm -rf bin/verify

.PHONY: verify-tidy
verify-tidy:
	@stale=; \
		for module in . hack/tools hack/audit hack/controlplane hack/chart/helmtest test/alerts test/bench/plots; do \
			echo "Checking $$module/go.mod"; \
			go -C "$$module" mod tidy -diff || stale="$$stale $$module"; \
		done; \
		if [ -n "$$stale" ]; then echo "verify: run \`go mod tidy\` in$$stale and commit the result"; exit 1; fi

.PHONY: verify-alerts
verify-alerts: $(PROMTOOL) ## Check the alerts of config/prometheus and run their unit tests, with promtool.
	@echo "Checking the alerts"
	@go -C test/alerts test -count=1 ./...

##@ Test

# A control plane of one's own is used as it is; otherwise the one in bin/k8s is built as needed.
ifdef KUBEBUILDER_ASSETS
TEST_NEEDS :=
else
TEST_NEEDS := control-plane-test
endif
test: export KUBEBUILDER_ASSETS := $(or $(KUBEBUILDER_ASSETS),$(CURDIR)/$(K8S_BIN))

# Never from the cache: Go does not see that a test depends on the manager, which it builds, and on config/.
.PHONY: test
test: $(TEST_NEEDS) ## Run the tests, against a real API server where they need one, and print the coverage.
	go test -count=1 -coverpkg=./internal/...,./apis/... -coverprofile=cover.all.out $(TESTARGS) ./...
	go -C hack/audit test -count=1 ./...
	go -C hack/chart/helmtest test -count=1 ./...
	@grep -v zz_generated cover.all.out >cover.out
	@go tool cover -func=cover.out | tail -n 1

.PHONY: test-e2e
test-e2e: $(BUILT_KUBECTL) ## Test the pushed (for kind: loaded) image IMG on the current cluster, which needs cert-manager and no CronJobs of ours.
	$(check-cluster)
	E2E_IMG=$(IMG) go test -tags=e2e -count=1 -timeout=30m -v $(TESTARGS) ./test/e2e

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME.
	@grep -rEo --include='*_test.go' --exclude-dir=bin '^func Fuzz[A-Za-z0-9_]*' . | sed 's|/[^/]*:func | |' \
		| while read -r dir target; do \
			echo "$$dir $$target"; \
			go test -run='^$$' -fuzz="^$$target\$$" -fuzztime=$(FUZZTIME) "$$dir" </dev/null; \
		done

# Built and then run in make's place, as below.
.PHONY: bench
bench: control-plane build ## Measure the operator beside the built-in CronJob controller into docs/performance.md: about 2¾ hours.
	go build -o bin/bench/bench ./test/bench
	@exec bin/bench/bench $(BENCHARGS)

.PHONY: bench-smoke
bench-smoke: control-plane build ## A short form, which fails on counts and never on times: under 2 minutes.
	go build -o bin/bench/bench ./test/bench
	@exec bin/bench/bench -stages=ticks,idle -contenders=operator -n=200 -objects=200 -idle=20s -results=bin/bench/smoke.json

.PHONY: soak
soak: control-plane build ## Half an hour in which CronJobs come, run and go, at the end of which memory and goroutines are as before.
	@mkdir -p bin/bench/soak
	go build -o bin/bench/bench ./test/bench
	@exec bin/bench/bench -stages=churn -results=bin/bench/soak/results.json

.PHONY: chaos
chaos: control-plane ## Ten minutes of faults, after which a checker decides; its figures go into docs/reliability.md.
	go build -o bin/chaos/chaos ./test/chaos
	@exec bin/chaos/chaos -docs=docs/reliability.md $(CHAOSARGS)

.PHONY: chaos-seeds
chaos-seeds: control-plane ## A storm for each of SEEDS="1 2 3", one after another: about 12 minutes each.
	go build -o bin/chaos/chaos ./test/chaos
	CGO_ENABLED=0 go build -o bin/chaos/manager ./test/chaos/manager
	@failed=; for seed in $(or $(SEEDS),$(error SEEDS is empty: say make chaos-seeds SEEDS="1 2 3")); do \
	  bin/chaos/chaos -manager=bin/chaos/manager -seed=$$seed -out=bin/chaos/$$seed $(CHAOSARGS) || failed="$$failed $$seed"; \
	done; if [ -n "$$failed" ]; then echo "failed with these seeds:$$failed" >&2; exit 1; fi

.PHONY: chaos-smoke
chaos-smoke: control-plane ## 90 seconds of it, always the same, about what happens and not when: about 3 minutes.
	go build -o bin/chaos/chaos ./test/chaos
	@exec bin/chaos/chaos -seed=1 -duration=90s -calm=10s -cronjobs=60 -slowness=4

.PHONY: chaos-mutations
chaos-mutations: control-plane ## Break each promise on purpose and see the checker catch it, into docs/reliability.md: about 15 minutes.
	go run ./test/chaos/mutations -docs=docs/reliability.md

# Built and then run in make's place, so that Ctrl-C and kill reach it and it cleans up behind itself.
.PHONY: demo
demo: control-plane build ## Run the operator against a control plane on this machine and show what it does.
	go build -o bin/demo ./hack/demo
	@exec bin/demo $(DEMOARGS)

##@ Dependencies

# As in the image, and for Linux, whatever machine this is.
BUILD_RELEASED = VERSION='$(VERSION)' GOOS=linux hack/build
BUILD_AUDIT = go build -C hack/audit -o ../../bin/audit/audit .

define check-linked
bin/audit/audit -policy=hack/audit/policy.yaml $(1)
$(if $(VULNDB),for binary in $(1); do go -C hack/audit tool govulncheck -db='$(VULNDB)' -mode=binary $(CURDIR)/$$binary; done)
endef

.PHONY: audit
audit: ## Check the licences and versions of all that is linked, and go.sum, without network; with VULNDB, known vulnerabilities too.
	@mkdir -p bin/audit
	$(BUILD_RELEASED) . bin/audit/manager
	$(BUILD_RELEASED) ./cmd/kubectl-cronjob bin/audit/kubectl-cronjob
	@$(BUILD_AUDIT)
	go mod verify
	$(call check-linked,bin/audit/manager bin/audit/kubectl-cronjob)

# The last two checks say that the image has what `make audit` checks, and the terms of all of it.
.PHONY: audit-image
audit-image: unpack-image ## Check the manager of the image IMG likewise, that this source and VERSION make the same, and its licence texts.
	@mkdir -p bin/audit
	@$(BUILD_AUDIT)
	$(call check-linked,bin/image/manager)
	$(BUILD_RELEASED) . bin/audit/manager
	@cmp bin/image/manager bin/audit/manager || { \
		echo "$@: $(IMG) is not of this source, VERSION=$(VERSION), $$(go env GOVERSION) and $$(go env GOARCH): give the VERSION, GOTOOLCHAIN and GOARCH that it was built with"; exit 1; }
	@rm -rf bin/audit/licenses
	bin/audit/audit -licenses=bin/audit/licenses bin/audit/manager
	diff -r bin/audit/licenses bin/image/licenses

# A binary does not say which VERSION it was built with: that the same VERSION makes the same bytes does.
.PHONY: sbom
sbom: audit-image ## Write what is linked into the manager of the image IMG to dist/sbom.cdx.json, in CycloneDX, after audit-image.
	@mkdir -p dist
	bin/audit/audit -policy=hack/audit/policy.yaml -sbom=dist/sbom.cdx.json -version='$(VERSION)' bin/image/manager

# Nothing of it is run: it may be for another platform.
.PHONY: unpack-image
unpack-image:
	@rm -rf bin/image && mkdir -p bin/image
ifeq ($(notdir $(CONTAINER_TOOL)),buildah)
	@container=$$($(CONTAINER_TOOL) from $(IMG)); trap "$(CONTAINER_TOOL) rm $$container >/dev/null" EXIT; \
		root=$$($(CONTAINER_TOOL) mount $$container); cp -R "$$root/manager" "$$root/licenses" bin/image/
else
	@container=$$($(CONTAINER_TOOL) create $(IMG)); trap "$(CONTAINER_TOOL) rm $$container >/dev/null" EXIT; \
		for file in manager licenses; do $(CONTAINER_TOOL) cp $$container:/$$file bin/image/; done
endif

##@ Build

.PHONY: build
build: ## Build the manager: bin/manager.
	CGO_ENABLED=0 go build -ldflags "$(LDFLAGS)" -o bin/manager .

.PHONY: build-plugin
build-plugin: ## Build the kubectl plugin: bin/kubectl-cronjob, and bin/kubectl_complete-cronjob for completion.
	CGO_ENABLED=0 go build -ldflags "$(LDFLAGS)" -o bin/kubectl-cronjob ./cmd/kubectl-cronjob
	install -m 755 cmd/kubectl-cronjob/kubectl_complete-cronjob bin/kubectl_complete-cronjob

.PHONY: build-krew
build-krew: ## Write the plugin's release for krew to dist/krew: archives, to be put at RELEASE_URL, and a manifest.
	@mkdir -p bin/audit
	@$(BUILD_AUDIT)
	VERSION='$(VERSION)' RELEASE_URL='$(RELEASE_URL)' hack/krew/release dist/krew

.PHONY: run
run: $(BUILT_KUBECTL) ## Run the manager from here against the current cluster. Without certificates: make run ENABLE_WEBHOOKS=false
	$(check-cluster)
	CGO_ENABLED=0 go build -ldflags "$(LDFLAGS)" -o bin/manager .
	exec bin/manager $(RUNARGS)

.PHONY: docker-build
docker-build: ## Build the image IMG.
	$(CONTAINER_TOOL) build $(IMAGE_ARGS) -t $(IMG) .

.PHONY: docker-push
docker-push: ## Push the image IMG.
	$(CONTAINER_TOOL) push $(IMG)

# Go compiles for other platforms by itself: the builder stage stays on this one's, and is not emulated.
.PHONY: docker-buildx
docker-buildx: ## Build and push the image IMG for all PLATFORMS.
	@mkdir -p bin
	awk '!done && sub(/^FROM /, "FROM --platform=$$BUILDPLATFORM ") {done = 1} {print}' Dockerfile >bin/Dockerfile.cross
ifeq ($(notdir $(CONTAINER_TOOL)),docker)
	- $(CONTAINER_TOOL) buildx create --name project-builder
	$(CONTAINER_TOOL) buildx build --builder project-builder --push --platform=$(PLATFORMS) \
		$(IMAGE_ARGS) -t $(IMG) -f bin/Dockerfile.cross .
	- $(CONTAINER_TOOL) buildx rm project-builder
else
	- $(CONTAINER_TOOL) manifest rm $(IMG) 2>/dev/null
	$(CONTAINER_TOOL) build --platform=$(PLATFORMS) $(IMAGE_ARGS) --manifest $(IMG) -f bin/Dockerfile.cross .
	$(CONTAINER_TOOL) manifest push --all $(IMG) docker://$(IMG)
endif

.PHONY: build-installer
build-installer: ## Write all that `make deploy` applies, with the image IMG, to dist/install.yaml.
	$(image-overlay)
	@mkdir -p dist
	$(KUSTOMIZE) build bin/overlay >dist/install.yaml

##@ Deployment

.PHONY: install
install: $(BUILT_KUBECTL) ## Install the CRD, with v1 alone: enough for `make run ENABLE_WEBHOOKS=false`.
	$(check-cluster)
	$(KUSTOMIZE) build config/crd/without-webhooks | $(KUBECTL) apply -f -
	$(await-crd)

.PHONY: uninstall
uninstall: $(BUILT_KUBECTL) ## Delete the CRD. While CronJobs exist, which go with it, only with FORCE=1.
	$(check-cluster)
	$(check-cronjobs)
	$(delete-cronjobs)
	$(KUSTOMIZE) build config/crd/without-webhooks | $(KUBECTL) delete --ignore-not-found=$(ignore-not-found) -f -

.PHONY: deploy
deploy: $(BUILT_KUBECTL) ## Deploy the operator with the image IMG. Needs cert-manager.
	$(check-cluster)
	@$(KUBECTL) get crd certificates.cert-manager.io >/dev/null 2>&1 || { echo "$@: the cluster has no cert-manager, which makes the webhooks' certificate. Install it with: kubectl apply -f https://github.com/cert-manager/cert-manager/releases/latest/download/cert-manager.yaml"; exit 1; }
	$(image-overlay)
	$(KUSTOMIZE) build bin/overlay | $(KUBECTL) apply -f -
	$(await-crd)

.PHONY: undeploy
undeploy: $(BUILT_KUBECTL) ## Delete the operator and the CRD. While CronJobs exist, which go with it, only with FORCE=1.
	$(check-cluster)
	$(check-cronjobs)
	$(delete-cronjobs)
	$(KUSTOMIZE) build config/crd | $(KUBECTL) delete --ignore-not-found=$(ignore-not-found) -f -
	$(KUSTOMIZE) build config/default | $(KUBECTL) delete --ignore-not-found -f -

define check-cluster
@$(KUBECTL) get --raw /version --request-timeout=10s >/dev/null 2>&1 || { echo "$@: no cluster answers. Is one running, and does KUBECONFIG or the current context of kubectl name it?"; exit 1; }
endef

# v1 is what is stored: counting needs no conversion, so it works with the manager gone.
define check-cronjobs
@if $(KUBECTL) get crd $(CRD) >/dev/null 2>&1; then \
	count=$$($(KUBECTL) get $(CRONJOBS_V1) --all-namespaces --output=name | wc -l); \
	if [ "$$count" -gt 0 ] && [ "$(FORCE)" != 1 ]; then \
		echo "$@: this would delete the $$count CronJobs there are, and their Jobs. To do so: make $@ FORCE=1"; exit 1; \
	fi; \
fi
endef

# With nobody to ask, a deletion is not held up by a manager that is gone: not by the admission of the edits
# that a deletion makes, and not by the conversion to v2, in which the garbage collector reads and edits
# whatever there is of it. All it wants is metadata, which is the same in both versions: so v2 takes for a
# schedule whatever v1 has. It stays served, as the collector does not let go of an object that it knows in
# a version that is gone. The CronJobs go while their kind is there, as it finds no Jobs of a kind that it
# can't look up; it looks for kinds anew every half minute, so this may take that long.
define delete-cronjobs
@$(KUBECTL) delete --ignore-not-found mutatingwebhookconfiguration/project-mutating-webhook-configuration validatingwebhookconfiguration/project-validating-webhook-configuration
@if $(KUBECTL) get crd $(CRD) >/dev/null 2>&1; then \
	if [ "$$($(KUBECTL) get crd $(CRD) --output=jsonpath='{.spec.versions[1].name}')" = v2 ]; then \
		$(KUBECTL) patch crd $(CRD) --type=json --patch='[ \
			{"op": "add", "path": "/spec/conversion", "value": {"strategy": "None"}}, \
			{"op": "replace", "path": "/spec/versions/1/schema/openAPIV3Schema/properties/spec/properties/schedule", \
				"value": {"x-kubernetes-preserve-unknown-fields": true}}]'; \
	fi; \
	$(KUBECTL) delete $(CRONJOBS_V1) --all --all-namespaces --cascade=foreground --timeout=5m; \
fi
endef

# The API server takes a moment to serve a new kind: whoever comes next should find it.
define await-crd
@for try in {1..60}; do \
	if $(KUBECTL) get --raw '/apis/batch.tutorial.kubebuilder.io/v1/cronjobs?limit=1' >/dev/null 2>&1; then exit 0; fi; sleep 0.5; \
done; echo "$@: the API server still does not serve CronJobs: kubectl describe crd cronjobs.batch.tutorial.kubebuilder.io says why"; exit 1
endef

# config/default with another image. It stands outside config/, where setting the image would edit a file
# that git tracks.
define image-overlay
@rm -rf bin/overlay && mkdir -p bin/overlay
@printf '%s\n' 'apiVersion: kustomize.config.k8s.io/v1beta1' 'kind: Kustomization' 'resources:' '- ../../config/default' >bin/overlay/kustomization.yaml
@cd bin/overlay && $(KUSTOMIZE) edit set image controller=$(IMG)
endef

##@ Control plane and tools, built from source

# k8s.io/kubernetes as a dependency does not know its own version: tell it.
CONTROL_PLANE_MOD := hack/controlplane/go.mod
K8S_VERSION = $(shell awk '{for (i = 1; i < NF; i++) if ($$i == "k8s.io/kubernetes") {print $$(i+1); exit}}' $(CONTROL_PLANE_MOD))
K8S_MAJOR_MINOR = $(subst ., ,$(patsubst v%,%,$(K8S_VERSION)))
K8S_LDFLAGS = $(foreach setting,gitVersion=$(K8S_VERSION) gitMajor=$(word 1,$(K8S_MAJOR_MINOR)) gitMinor=$(word 2,$(K8S_MAJOR_MINOR)) gitTreeState=clean,-X k8s.io/component-base/version.$(setting))
BUILD_K8S = CGO_ENABLED=0 go build -C hack/controlplane -ldflags "$(K8S_LDFLAGS)" -o ../../$(K8S_BIN)/

FOR_TESTS := $(addprefix $(K8S_BIN)/,etcd kube-apiserver kube-controller-manager kubectl)
FOR_JOBS := $(addprefix $(K8S_BIN)/,kube-scheduler kwok)
KWOK_STAGES := node/fast/node-initialize node/heartbeat/node-heartbeat pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete
KWOK_STAGE_FILES := $(patsubst %,$(K8S_BIN)/kwok-stages/%.yaml,$(notdir $(KWOK_STAGES)))

.PHONY: control-plane-test
control-plane-test: $(FOR_TESTS) ## Build what the tests need into bin/k8s: etcd, kube-apiserver, kube-controller-manager, kubectl.

.PHONY: control-plane
control-plane: control-plane-test $(FOR_JOBS) $(KWOK_STAGE_FILES) ## Build all that runs Jobs: also the controllers, the scheduler, and kwok in the place of nodes.

# Touched, as go build leaves a binary that is up to date as it is, and make would ask again.
$(FOR_TESTS) &: $(CONTROL_PLANE_MOD)
	@echo "Building etcd, kube-apiserver, kube-controller-manager and kubectl into $(K8S_BIN): about 6 minutes the first time on 2 cores, seconds once Go has them cached."
	@mkdir -p $(K8S_BIN)
	$(BUILD_K8S)etcd go.etcd.io/etcd/server/v3
	$(BUILD_K8S) k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager k8s.io/kubernetes/cmd/kubectl
	@touch $(FOR_TESTS)

# After the others: they share most packages, which two builds at once would compile twice.
$(FOR_JOBS) &: $(CONTROL_PLANE_MOD) | $(FOR_TESTS)
	@echo "Building kube-scheduler and kwok into $(K8S_BIN): about a minute more the first time on 2 cores, seconds once Go has them cached."
	@mkdir -p $(K8S_BIN)
	$(BUILD_K8S) k8s.io/kubernetes/cmd/kube-scheduler sigs.k8s.io/kwok/cmd/kwok
	@touch $(FOR_JOBS)

# How kwok plays a node and its Pods; its binary has no stages of its own.
$(KWOK_STAGE_FILES) &: $(CONTROL_PLANE_MOD)
	@mkdir -p $(K8S_BIN)/kwok-stages
	@go -C hack/controlplane mod download sigs.k8s.io/kwok
	@kwok=$$(go -C hack/controlplane list -m -f '{{.Dir}}' sigs.k8s.io/kwok); \
		for stage in $(KWOK_STAGES); do install -m 0644 "$$kwok/kustomize/stage/$$stage.yaml" $(K8S_BIN)/kwok-stages/; done
	@touch $(KWOK_STAGE_FILES)

# Without the clouds in which Prometheus finds what to scrape: they are most of what there is to compile.
$(PROMTOOL): test/alerts/go.mod
	@echo "Building promtool into bin: 2 minutes the first time on 2 cores, seconds once Go has it cached."
	go build -C test/alerts -tags=remove_all_sd -o ../../$@ github.com/prometheus/prometheus/cmd/promtool
	@touch $@

$(GOLANGCI_LINT): hack/tools/go.mod
	@echo "Building golangci-lint into bin: a few minutes the first time, seconds once Go has it cached."
	go build -C hack/tools -o ../../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@
