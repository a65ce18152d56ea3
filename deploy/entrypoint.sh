#!/bin/sh
# argon2 is compiled for processors with AVX2. Others use the portable binary that npm brings, which this variable selects.
grep -qw avx2 /proc/cpuinfo || export PREBUILDS_ONLY=1
exec "$@"
