# The base images, each by the digest of an index for all platforms, so that a later build has the
# same. Go is the toolchain of go.mod. The arguments GO_IMAGE and BASE_IMAGE replace them.
ARG GO_IMAGE=golang:1.26.8@sha256:6c2a5538f964f1c82f97ad14988bf05de100d922d159d0e398b54c7b0ca0c6c9
ARG BASE_IMAGE=gcr.io/distroless/static:nonroot@sha256:f7f8f729987ad0fdf6b05eeeae94b26e6a0f613bdf46feea7fc40f7bd72953e6

FROM ${GO_IMAGE} AS builder
ARG TARGETOS
ARG TARGETARCH
WORKDIR /workspace

# A layer for the modules, which are downloaded again only when go.mod changes.
COPY go.mod go.sum ./
RUN go mod download

# Copies the licences, below. It runs on the builder's platform, and is built again only when it
# changes.
COPY hack/audit hack/audit
RUN go build -C hack/audit -o /tmp/audit .

COPY . .

# Declared as late as possible, because a new version rebuilds everything below.
ARG VERSION=dev
# An empty GOOS or GOARCH, from a builder that sets neither, means the builder's own.
RUN VERSION=${VERSION} GOOS=${TARGETOS} GOARCH=${TARGETARCH} hack/build . manager
RUN /tmp/audit -licenses=licenses manager

# It has certificates and a passwd file. The time zones of schedules are in the binary.
FROM ${BASE_IMAGE}
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title=cronjob-operator org.opencontainers.image.version=${VERSION} org.opencontainers.image.revision=${REVISION} org.opencontainers.image.licenses=Apache-2.0
WORKDIR /
COPY --from=builder /workspace/manager .
COPY --from=builder /workspace/licenses licenses
USER 65532:65532
ENTRYPOINT ["/manager"]
