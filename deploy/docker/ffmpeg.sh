#!/bin/sh
# ffmpeg.sh PREFIX
#
# Builds ffmpeg and ffprobe from Debian's source package, with Debian's security fixes, and only the parts that
# packages/media uses: its containers and codecs, its filters, files and pipes. The result has no network code and no
# playlist formats, so hostile media cannot reach them, and it takes 17 MB instead of the 700 MB that Debian's own build
# depends on.
set -eu
prefix=$1

sed -i 's/^Types: deb$/Types: deb deb-src/' /etc/apt/sources.list.d/debian.sources
apt-get update -qq
apt-get install -y -qq --no-install-recommends \
  dpkg-dev gcc libc6-dev libdav1d-dev libffmpeg-nvenc-dev libvpx-dev libx264-dev libx265-dev libzimg-dev make nasm pkgconf zlib1g-dev >/dev/null
mkdir /source
cd /source
apt-get source -qq ffmpeg
version=$(dpkg-parsechangelog --show-field Version --file ffmpeg-*/debian/changelog)
cd ffmpeg-*/

pcm() { grep -oE "ff_pcm_([suf](8|16|24|32|64)(le|be)?|mulaw|alaw|bluray)_$1" libavcodec/allcodecs.c | sed "s/ff_//;s/_$1\$//" | sort -u | paste -sd,; }

# The names of formats and codecs match packages/media (input-arguments.ts, media-limits.ts); a unit test there checks
# it. The last filters and muxer make the clips of the commands for packs (scripts/models, with a test of its own). GPU
# decoders and the GPU encoder load the driver at run time, if there is one.
./configure --prefix="$prefix" --disable-everything --disable-autodetect --disable-network --disable-doc \
  --disable-debug --disable-avdevice --disable-ffplay \
  --enable-gpl --enable-libx264 --enable-libx265 --enable-libdav1d --enable-libvpx --enable-libzimg --enable-zlib \
  --enable-protocol=file,pipe \
  --enable-demuxer=mov,matroska,mpegts,wav,aiff,mp3,aac,ac3,eac3,flac,ogg,asf \
  --enable-muxer=mp4,rawvideo,null,pcm_f32le \
  --enable-decoder=h264,hevc,vp8,vp9,libvpx_vp8,libvpx_vp9,libdav1d,mpeg4,mpeg2video,prores,dnxhd,mjpeg,rawvideo \
  --enable-decoder=aac,aac_latm,mp3float,mp2float,ac3,eac3,flac,vorbis,opus,alac,wmav1,wmav2,wmapro \
  --enable-decoder="$(pcm decoder)" \
  --enable-encoder=libx264,libx265,aac,rawvideo,pcm_f32le,pcm_s16le,wrapped_avframe \
  --enable-parser=h264,hevc,vp8,vp9,av1,mpeg4video,mpegvideo,dnxhd,mjpeg,aac,aac_latm,mpegaudio,ac3,flac,vorbis,opus \
  --enable-bsf=aac_adtstoasc,extract_extradata,h264_mp4toannexb,hevc_mp4toannexb \
  --enable-bsf=vp9_superframe,vp9_superframe_split,av1_frame_merge,av1_frame_split,setts \
  --enable-filter=asetpts,scale,format,aformat,crop,select,setsar,setparams,aresample,apad,atrim,trim \
  --enable-filter=null,anull,transpose,hflip,vflip,rotate,settb,metadata,bwdif,premultiply,lutrgb,zscale,tonemap \
  --enable-filter=split,idet \
  --enable-filter=pad,noise --enable-muxer=wav \
  --enable-ffnvcodec --enable-nvenc --enable-nvdec --enable-cuvid --enable-encoder=h264_nvenc,hevc_nvenc --enable-decoder=av1 \
  --enable-hwaccel=h264_nvdec,hevc_nvdec,vp8_nvdec,vp9_nvdec,av1_nvdec,mpeg4_nvdec >/configure.log ||
  { tail -20 ffbuild/config.log; exit 1; }
make -j"$(nproc)" ffmpeg ffprobe >/make.log 2>&1 || { tail -40 /make.log; exit 1; }
mkdir -p "$prefix/bin"
strip -o "$prefix/bin/ffmpeg" ffmpeg
strip -o "$prefix/bin/ffprobe" ffprobe

# For scanners (see rootfs.sh): with respect to known vulnerabilities, this is that Debian package.
mkdir -p "$prefix/record/var/lib/dpkg/status.d" "$prefix/record/usr/share/doc/ffmpeg"
printf 'Package: ffmpeg\nStatus: install ok installed\nMaintainer: Debian Multimedia Maintainers\nArchitecture: %s\nVersion: %s\nDescription: built from the Debian source with fewer parts\n' \
  "$(dpkg --print-architecture)" "$version" >"$prefix/record/var/lib/dpkg/status.d/ffmpeg"
cp debian/copyright "$prefix/record/usr/share/doc/ffmpeg/copyright"
