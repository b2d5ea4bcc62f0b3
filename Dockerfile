FROM golang:1.26 AS builder
ARG TARGETOS
ARG TARGETARCH
WORKDIR /workspace

# The modules in a layer of their own: they are downloaded again only when go.mod changes.
COPY go.mod go.sum ./
RUN go mod download

COPY . .

# Declared no earlier than needed: a new version rebuilds nothing above.
ARG VERSION=dev
# An empty GOOS or GOARCH, from a builder that sets neither, means the builder's own.
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -buildvcs=false -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o manager .

# Only certificates and a passwd file beside the binary; its time zones are inside it.
FROM gcr.io/distroless/static:nonroot
WORKDIR /
COPY --from=builder /workspace/manager .
USER 65532:65532
ENTRYPOINT ["/manager"]
