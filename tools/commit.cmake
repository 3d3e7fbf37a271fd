# Writes the commit that is being built into HEADER, for the benchmark reports; touches it only when it has changed. A copy
# of the tree without its history is told by the environment, NDREDUCE_COMMIT.
execute_process(COMMAND git describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE_DIR}
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit "$ENV{NDREDUCE_COMMIT}")
endif()
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define NDR_COMMIT \"${commit}\"\n")
