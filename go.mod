module tutorial.kubebuilder.io/project

go 1.26.0

toolchain go1.26.8

require (
	github.com/aymanbagabas/go-udiff v0.4.1 // plugin: the diff of convert
	github.com/chromedp/cdproto v0.159.2 // test/ui: the protocol of the browser
	github.com/chromedp/chromedp v0.23.0 // test/ui: drives the browser
	github.com/fatih/color v1.19.0 // plugin: colours of history
	github.com/fluxcd/cli-utils v1.2.2 // tests: kstatus
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // conversion, the cache: JSON in one pass; to become the standard library's
	github.com/go-logr/logr v1.4.4 // manager, tests: loggers
	github.com/go-logr/zapr v1.3.0 // manager: the logger
	github.com/google/renameio/v2 v2.0.2 // plugin, test/localcluster, test/chaos: files that change at once
	github.com/owenrumney/go-sarif/v3 v3.3.1 // plugin: SARIF of lint
	github.com/pkg/browser v0.0.0-20240102092130-5ac0b6a4141c // plugin: opens the page of ui
	github.com/prometheus/client_golang v1.25.0 // manager: metrics
	github.com/prometheus/client_model v0.6.3 // test/plane, test/bench: reads metrics
	github.com/prometheus/common v0.72.0 // test/plane: parses metrics
	github.com/prometheus/procfs v0.22.0 // test/bench, test/chaos: reads /proc
	github.com/robfig/cron/v3 v3.0.1 // internal/schedule: the parser
	github.com/schollz/progressbar/v3 v3.19.1 // plugin: the progress of backfill
	github.com/spf13/cobra v1.10.2 // plugin: commands
	github.com/spf13/pflag v1.0.10 // plugin: flags
	github.com/stretchr/testify v1.12.1 // tests
	github.com/yuin/goldmark v1.8.7 // tests: parses the pages of docs
	github.com/yuin/gopher-lua v1.1.2 // tests: the scripts of Argo CD
	go.etcd.io/etcd/client/v3 v3.7.2 // test/chaos, test/bench: watches and compacts etcd
	go.uber.org/zap v1.28.0 // manager, test/plane: loggers
	go.yaml.in/yaml/v3 v3.0.6 // plugin: positions in manifests
	golang.org/x/sync v0.23.0 // webhooks, plugin, test/bench, test/chaos: errgroup, semaphore
	golang.org/x/term v0.46.0 // plugin: the width of history
	google.golang.org/grpc v1.83.2 // test/plane: how soon etcd is asked again
	gopkg.in/evanphx/json-patch.v4 v4.13.0 // plugin: what a conversion changes; tests: patches of webhooks
	k8s.io/api v0.37.2 // everything
	k8s.io/apiextensions-apiserver v0.37.2 // manager, plugin, hack/crdschema, tests: the CRD
	k8s.io/apimachinery v0.37.2 // everything
	k8s.io/apiserver v0.37.2 // plugin: the limits of lint's rules, and generated names; test/chaos: what requests are about
	k8s.io/cli-runtime v0.37.2 // plugin: kubectl's flags and printers
	k8s.io/client-go v0.37.2 // everything
	k8s.io/component-base v0.37.2 // manager: TLS flags
	k8s.io/klog/v2 v2.140.0 // manager: client-go's logs
	k8s.io/utils v0.0.0-20260626114624-be93311217bd // manager, plugin: clocks
	layeh.com/gopher-json v0.0.0-20190114024228-97fed8db8427 // tests: the scripts of Argo CD
	sigs.k8s.io/controller-runtime v0.25.2 // manager; test/localcluster: envtest
	sigs.k8s.io/json v0.0.0-20250730193827-2d320260d730 // apis/batch/v2, internal/informer: strict JSON
	sigs.k8s.io/randfill v1.0.0 // fuzz tests
	sigs.k8s.io/yaml v1.6.0 // plugin, hack, tests: manifests
)

require (
	cel.dev/expr v0.25.2 // indirect
	github.com/Azure/go-ansiterm v0.0.0-20250102033503-faa5f7b0171c // indirect
	github.com/antlr4-go/antlr/v4 v4.13.1 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/blang/semver/v4 v4.0.0 // indirect
	github.com/cenkalti/backoff/v5 v5.0.3 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/coreos/go-semver v0.3.1 // indirect
	github.com/coreos/go-systemd/v22 v22.7.0 // indirect
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/emicklei/go-restful/v3 v3.13.0 // indirect
	github.com/evanphx/json-patch/v5 v5.9.11 // indirect
	github.com/felixge/httpsnoop v1.0.4 // indirect
	github.com/fsnotify/fsnotify v1.9.0 // indirect
	github.com/fxamacker/cbor/v2 v2.9.1 // indirect
	github.com/go-errors/errors v1.5.1 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/go-openapi/jsonpointer v1.0.0 // indirect
	github.com/go-openapi/jsonreference v1.0.0 // indirect
	github.com/go-openapi/swag v0.27.1 // indirect
	github.com/go-openapi/swag/cmdutils v0.27.1 // indirect
	github.com/go-openapi/swag/conv v0.27.1 // indirect
	github.com/go-openapi/swag/fileutils v0.27.1 // indirect
	github.com/go-openapi/swag/jsonutils v0.27.1 // indirect
	github.com/go-openapi/swag/loading v0.27.1 // indirect
	github.com/go-openapi/swag/mangling v0.27.1 // indirect
	github.com/go-openapi/swag/netutils v0.27.1 // indirect
	github.com/go-openapi/swag/pools v0.27.1 // indirect
	github.com/go-openapi/swag/stringutils v0.27.1 // indirect
	github.com/go-openapi/swag/typeutils v0.27.1 // indirect
	github.com/go-openapi/swag/yamlutils v0.27.1 // indirect
	github.com/gobuffalo/flect v1.0.3 // indirect
	github.com/golang/protobuf v1.5.4 // indirect
	github.com/google/btree v1.1.3 // indirect
	github.com/google/cel-go v0.29.2 // indirect
	github.com/google/gnostic-models v0.7.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.29.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/json-iterator/go v1.1.12 // indirect
	github.com/liggitt/tabwriter v0.0.0-20181228230101-89fcab3d43de // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.22 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/moby/term v0.5.2 // indirect
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect
	github.com/modern-go/reflect2 v1.0.3-0.20250322232337-35a7c28c31ee // indirect
	github.com/monochromegane/go-gitignore v0.0.0-20200626010858-205db1a8cc00 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/peterbourgon/diskv v2.0.1+incompatible // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/sergi/go-diff v1.4.0 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	github.com/xeipuuv/gojsonpointer v0.0.0-20180127040702-4e3ac2762d5f // indirect
	github.com/xeipuuv/gojsonreference v0.0.0-20180127040603-bd5ef7bd5415 // indirect
	github.com/xeipuuv/gojsonschema v1.2.0 // indirect
	github.com/xlab/treeprint v1.2.0 // indirect
	go.etcd.io/etcd/api/v3 v3.7.2 // indirect
	go.etcd.io/etcd/client/pkg/v3 v3.7.2 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp v0.69.0 // indirect
	go.opentelemetry.io/otel v1.45.0 // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlptrace v1.45.0 // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc v1.45.0 // indirect
	go.opentelemetry.io/otel/metric v1.45.0 // indirect
	go.opentelemetry.io/otel/sdk v1.45.0 // indirect
	go.opentelemetry.io/otel/trace v1.45.0 // indirect
	go.opentelemetry.io/proto/otlp v1.11.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.yaml.in/yaml/v2 v2.4.4 // indirect
	golang.org/x/exp v0.0.0-20260410095643-746e56fc9e2f // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/net v0.59.0 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
	gomodules.xyz/jsonpatch/v2 v2.4.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260803160001-6ac0973c030d // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260803160001-6ac0973c030d // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
	k8s.io/code-generator v0.37.2 // indirect
	k8s.io/gengo/v2 v2.0.0-20260408192533-25e2208e0dc3 // indirect
	k8s.io/kube-openapi v0.0.0-20260721132016-d427ff9ee9ad // indirect
	k8s.io/streaming v0.37.2 // indirect
	sigs.k8s.io/apiserver-network-proxy/konnectivity-client v0.36.0 // indirect
	sigs.k8s.io/controller-tools v0.23.0 // indirect
	sigs.k8s.io/kustomize/api v0.21.2 // indirect
	sigs.k8s.io/kustomize/cmd/config v0.21.2 // indirect
	sigs.k8s.io/kustomize/kustomize/v5 v5.8.2 // indirect
	sigs.k8s.io/kustomize/kyaml v0.21.2 // indirect
	sigs.k8s.io/structured-merge-diff/v6 v6.4.2 // indirect
)

tool (
	sigs.k8s.io/controller-tools/cmd/controller-gen
	sigs.k8s.io/kustomize/kustomize/v5
)
