# Both by the digest of an index for all platforms, so that a build next year has the same bases. Go
# is the toolchain of go.mod; GO_IMAGE and BASE_IMAGE take others.
ARG GO_IMAGE=golang:1.26.8@sha256:6c2a5538f964f1c82f97ad14988bf05de100d922d159d0e398b54c7b0ca0c6c9
ARG BASE_IMAGE=gcr.io/distroless/static:nonroot@sha256:f7f8f729987ad0fdf6b05eeeae94b26e6a0f613bdf46feea7fc40f7bd72953e6

FROM ${GO_IMAGE} AS builder
ARG TARGETOS
ARG TARGETARCH
WORKDIR /workspace

# The modules in a layer of their own: they are downloaded again only when go.mod changes.
COPY go.mod go.sum ./
RUN go mod download

# It copies the licences below. It is for the builder's platform, and is built again only when it
# changes.
COPY hack/audit hack/audit
RUN go build -C hack/audit -o /tmp/audit .

COPY . .

# Declared no earlier than needed: a new version rebuilds nothing above.
ARG VERSION=dev
# An empty GOOS or GOARCH, from a builder that sets neither, means the builder's own.
RUN VERSION=${VERSION} GOOS=${TARGETOS} GOARCH=${TARGETARCH} hack/build . manager
RUN /tmp/audit -licenses=licenses manager

# Only certificates and a passwd file beside the binary; its time zones are inside it.
FROM ${BASE_IMAGE}
WORKDIR /
COPY --from=builder /workspace/manager .
COPY --from=builder /workspace/licenses licenses
USER 65532:65532
ENTRYPOINT ["/manager"]
