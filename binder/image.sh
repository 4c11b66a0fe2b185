#!/bin/sh
# image.sh build | check [few] | manifest: the image of the Dockerfile, with docker where its engine answers, else
# with buildah, which needs none. Exits with 75 where there is neither.
set -eu
cd "$(dirname "$0")/.."
image=localhost/roundoff

if docker info >/dev/null 2>&1; then
	build() { docker build --tag "$image" .; }
	run() { docker run --rm --interactive --network none "$image" "$@"; }
else
	[ "$(id -u)" = 0 ] || {
		echo "image: no docker engine answers, and buildah's chroot isolation needs a superuser." >&2
		exit 75
	}
	.ci/packages 'command -v buildah && command -v mmdebstrap && command -v ip' buildah mmdebstrap iproute2
	store=${XDG_CACHE_HOME:-$HOME/.cache}/roundoff-image
	mkdir -p "$store"
	printf '[storage]\ndriver = "%s"\ngraphroot = "%s"\nrunroot = "%s"\n' overlay "$store/images" "$store/run" >"$store/storage.conf"
	export CONTAINERS_STORAGE_CONF="$store/storage.conf"
	certificates=/etc/ssl/certs/ca-certificates.crt # of this machine, which may be behind a proxy of its own

	base() { # the Debian of the Dockerfile, from the mirror that this machine uses
		suite=trixie base=localhost/debian:trixie
		[ -z "$(buildah images -q "$base" 2>/dev/null)" ] || return 0
		mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
		mmdebstrap --quiet --variant=minbase --include=ca-certificates "$suite" "$store/base.tar" ${mirror:+"$mirror"} || {
			echo "image: Debian's $suite cannot be had here." >&2
			exit 75
		}
		container=$(buildah from scratch)
		buildah add -q "$container" "$store/base.tar" / >/dev/null
		buildah config --cmd bash --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
		buildah commit -q --rm "$container" "$base" >/dev/null
		rm "$store/base.tar"
	}

	build() {
		[ "$(du -smx "$store" | cut -f 1)" -lt 8000 ] || { buildah rm --all && buildah rmi --prune; } >/dev/null
		base
		buildah build --isolation chroot --format docker --pull-never --layers -v "$certificates:$certificates:ro" \
			--build-arg BASE="$base" --tag "$image" .
	}

	run() {
		container=$(buildah from --pull-never "$image")
		trap 'buildah rm "$container" >/dev/null' EXIT
		trap 'exit 143' INT TERM
		# Neither a network nor, at the end, a process that is left.
		unshare --net --pid --fork --kill-child --mount-proc sh -c 'ip link set lo up && exec "$@"' - buildah run --isolation chroot "$container" -- tini -s -g -- "$@"
	}
fi

case ${1-} in
build) build ;;
check) run python3 - ${2:+"$2"} <binder/check.py ;; # which is not in the image
manifest) run cat /opt/manifest.txt ;;
*) echo "usage: binder/image.sh build | check [few] | manifest" >&2 && exit 2 ;;
esac
