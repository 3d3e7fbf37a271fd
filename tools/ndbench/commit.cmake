# Writes the commit that is being built into HEADER, for the benchmark reports; touches it only when it has changed. What
# the environment says, NDREDUCE_COMMIT, goes first: a copy of the tree may lie in the history of something else.
set(commit "$ENV{NDREDUCE_COMMIT}")
if(NOT commit)
  execute_process(COMMAND git describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE_DIR}
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define NDR_COMMIT \"${commit}\"\n")
