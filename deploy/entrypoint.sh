#!/bin/sh
# argon2 is compiled for processors with AVX2. Others use the portable binary that npm brings, which this variable selects.
grep -qw avx2 /proc/cpuinfo || export PREBUILDS_ONLY=1
# Threads of libuv for hashing on all cores, and for files and DNS beside it. Node reads it at its start.
threads=$(($(nproc) * 2))
export UV_THREADPOOL_SIZE="${UV_THREADPOOL_SIZE:-$((threads > 4 ? threads : 4))}"
exec "$@"
