# cmake -DFATBINS=FILES -DOUT=FILE -P fatbins.cmake: writes a header that names a build by the sum of its fatbins.
set(sums "")
foreach(fatbin IN LISTS FATBINS)
  file(SHA256 ${fatbin} sum)
  string(APPEND sums ${sum})
endforeach()
string(SHA256 sum "${sums}")
file(WRITE ${OUT} "#define SMP_KERNELS_BUILD \"${sum}\"\n")
