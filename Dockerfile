# The notebooks in JupyterLab, laid out as `make lab` does it, ready to run without a network. The same
# bytes lie in binder/, where Binder looks for them.
ARG BASE=docker.io/library/debian:trixie-slim

FROM ${BASE} AS built
ARG GO_VERSION=1.26.8
ENV LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates golang-go python3-venv
# Debian's Go gets this one through the module proxy and checks it against the sum database.
RUN export GOTOOLCHAIN=go${GO_VERSION} GOPATH=/tmp/gopath \
 && cp -r "$(go env GOROOT)" /opt/go && chmod -R u+w /opt/go /tmp/gopath && rm -r /tmp/gopath \
 && rm -rf /opt/go/api /opt/go/doc /opt/go/misc /opt/go/test \
 && find /opt/go/src -name testdata -prune -exec rm -r {} + \
 && find /opt/go/src -name '*_test.go' -delete
ENV GOTOOLCHAIN=local GOPATH=/opt/gopath GOCACHE=/opt/gocache CGO_ENABLED=0 PATH=/opt/go/bin:${PATH}
WORKDIR /home/jovyan
# The tools alone, without what they were built from.
COPY tools tools
RUN export GOPATH=/tmp/gopath GOCACHE=/tmp/gocache GOFLAGS=-modcacherw \
 && GOBIN=/home/jovyan/.bin go -C tools install github.com/janpfeifer/gonb \
    golang.org/x/tools/cmd/goimports golang.org/x/tools/gopls \
 && rm -r /tmp/gopath /tmp/gocache
COPY lab/install.sh lab/requirements.txt lab/
# A hub that launches the notebook server gets JupyterLab too.
RUN lab/install.sh && ln -s jupyter-lab .venv/bin/jupyter-notebook \
 && rm -f .venv/pip.log && .venv/bin/python -m pip uninstall -qy pip
# What cells import, compiled; Go needs no archive of a module once it is unpacked.
COPY . .
RUN go list -m all >/dev/null && go build ./pkg/... && find /opt/gopath -name '*.zip' -delete
RUN { \
      .venv/bin/python -c 'from importlib.metadata import distributions; [print("python", d.name, d.version) for d in distributions()]' | sort -f; \
      echo "go $(go env GOVERSION)"; \
      go list -m -f '{{if not .Main}}module {{.Path}} {{.Version}}{{end}}' all; \
      go version -m .bin/* | awk '$1 == "mod" || $1 == "dep" { print "tool", $2, $3 }' | sort -u; \
    } >/opt/built.txt

FROM ${BASE}
ARG NB_USER=jovyan
ARG NB_UID=1000
ENV LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates python3 tini \
 && apt-get clean && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --home-dir /home/jovyan --uid ${NB_UID} --shell /bin/bash ${NB_USER}
ENV USER=${NB_USER} HOME=/home/jovyan GOTOOLCHAIN=local GOPATH=/opt/gopath GOCACHE=/opt/gocache CGO_ENABLED=0
ENV PATH=${HOME}/.venv/bin:${HOME}/.bin:/opt/go/bin:${PATH}
COPY --from=built /opt/go /opt/go
COPY --from=built --chown=${NB_UID}:${NB_UID} /opt/gopath /opt/gopath
COPY --from=built --chown=${NB_UID}:${NB_UID} /opt/gocache /opt/gocache
COPY --from=built --chown=${NB_UID}:${NB_UID} /home/jovyan /home/jovyan
COPY --from=built /opt/built.txt /opt/built.txt
RUN dpkg-query -W -f 'debian ${Package} ${Version}\n' | cat - /opt/built.txt >/opt/manifest.txt && rm /opt/built.txt
WORKDIR /home/jovyan
USER ${NB_USER}
ENTRYPOINT ["tini", "-g", "--"]
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--no-browser"]
