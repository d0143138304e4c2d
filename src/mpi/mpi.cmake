# smempipe-mpi: smempipe whose batch and measure share a list among the ranks of an MPI job. A program of its own, since
# MPIs differ in their ABI and take up to a second to start. -DMPI_C_COMPILER=mpicc.mpich chooses among several.
find_package(MPI REQUIRED COMPONENTS C)
file(GLOB mpi_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)
add_executable(smempipe_mpi ${mpi_sources})
set_target_properties(smempipe_mpi PROPERTIES OUTPUT_NAME smempipe-mpi)
target_link_libraries(smempipe_mpi PRIVATE smp smp_hardened MPI::MPI_C)
smp_traces(smempipe_mpi)
install(TARGETS smempipe_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
