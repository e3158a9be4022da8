#!/usr/bin/env bash
# scripts/gpu/traffic.py on a stand-in for ncu: units, the median, what is kept and what is refused.
. "$(dirname "$0")/checks.bash" || exit
command -v python3 >/dev/null || exit 77
: >"$out"
: >"$err"
mkdir "$work/bin"
traffic() { PATH="$work/bin:$PATH" python3 -B "$ELBOWROOM_SOURCE_DIR/scripts/gpu/traffic.py" "$@"; }

# Of 268,435,456 bytes sent (256 MiB): 536.870912 MB + 0.536870912 GB are 4 to 1, 1,073.741824 MB + 0.536870912 GB 6 to 1. Median 5.
cat >"$work/bin/ncu" <<'NCU'
#!/usr/bin/env bash
echo '==PROF== Connected to process 1'
printf '"ID","Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum"\n"","","Mbyte","Gbyte"\n'
printf '"0","ncclDevKernel_AllReduce","536.870912","0.536870912"\n"1","ncclDevKernel_AllReduce","1,073.741824","0.536870912"\n'
NCU
chmod +x "$work/bin/ncu"
traffic "$work/counted" >"$work/said" 2>/dev/null || fail 'refuses a table of ncu'
for name in ring symmetric; do
  grep -qxF "$name: 5.00 B of memory for each byte sent (4.00..6.00, 2 kernels)" "$work/said" || fail "$name: $(cat "$work/said")"
  grep -q '^"ID"' "$work/counted/traffic-$name.csv" || fail "what ncu said of $name is not kept"
done

printf '#!/usr/bin/env bash\necho "==ERROR== ERR_NVGPUCTRPERM"\n' >"$work/bin/ncu"
traffic "$work/none" >/dev/null 2>"$work/said" && fail 'counted without counters'
grep -qxF 'traffic: ring: no table of ncu, it said: ==ERROR== ERR_NVGPUCTRPERM' "$work/said" || fail "does not pass on why: $(cat "$work/said")"

finish
