# Writes the commit that is being built into HEADER, for the benchmark reports; touches it only when it has changed.
execute_process(COMMAND git describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE_DIR}
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define NDR_COMMIT \"${commit}\"\n")
