# The operator's image: any Debian-like base with Python 3.11 or newer, its venv module and CA certificates.
#
#   BASE_IMAGE       the base of both stages
#   KUBECTL_VERSION  the kubectl to download, without the v; not used where the build context has a file `kubectl`
#   KUBECTL_SHA256   its checksum; required for a download, checked for the context's file where given
ARG BASE_IMAGE=python:3.13-slim-trixie

FROM ${BASE_IMAGE} AS build
ARG KUBECTL_VERSION=1.37.2
ARG KUBECTL_SHA256=
WORKDIR /build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1

# The pattern makes the file optional: COPY fails only where nothing at all matches.
COPY LICENSE kubectl* ./
RUN set -eu; \
    if [ ! -f kubectl ]; then \
      [ -n "$KUBECTL_SHA256" ] || { echo "give KUBECTL_SHA256, the checksum of kubectl $KUBECTL_VERSION" >&2; exit 1; }; \
      case "$(uname -m)" in x86_64) arch=amd64 ;; aarch64) arch=arm64 ;; *) echo "no kubectl for $(uname -m)" >&2; exit 1 ;; esac; \
      python3 -c 'import sys, urllib.request as u; u.urlretrieve(sys.argv[1], "kubectl")' \
        "https://dl.k8s.io/release/v$KUBECTL_VERSION/bin/linux/$arch/kubectl"; \
    fi; \
    [ -z "$KUBECTL_SHA256" ] || echo "$KUBECTL_SHA256  kubectl" | sha256sum -c -; \
    chmod 0755 kubectl

COPY requirements-build.lock requirements.lock ./
RUN python3 -m venv tools && tools/bin/pip install --require-hashes -r requirements-build.lock \
 && python3 -m venv /opt/sanare && /opt/sanare/bin/pip install --require-hashes --only-binary :all: -r requirements.lock

COPY pyproject.toml README.md CHANGELOG.md LICENSE ./
COPY operator operator
RUN tools/bin/pip wheel --no-deps --no-build-isolation --wheel-dir dist . \
 && /opt/sanare/bin/pip install --no-deps --no-index dist/sanare-*.whl \
 && /opt/sanare/bin/pip uninstall --yes pip

FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="sanare" \
      org.opencontainers.image.description="A Kubernetes operator that heals incidents" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/sanare /opt/sanare
COPY --from=build /build/kubectl /usr/local/bin/kubectl
# USER stands in for an entry in /etc/passwd: libraries ask for the name of a user that has only a number.
ENV PATH=/opt/sanare/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/tmp \
    USER=sanare \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    SANARE_KUBECTL=/usr/local/bin/kubectl
USER 65532:65532
WORKDIR /
EXPOSE 8080
ENTRYPOINT ["python", "-m", "sanare"]
CMD ["run"]
