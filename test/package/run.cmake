# Run a command; end with its output when it fails. The output is left in `output`.
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT code EQUAL 0)
        string(REPLACE ";" " " command "${ARGN}")
        message(FATAL_ERROR "${command}\nended with ${code}:\n${text}")
    endif()
    set(output "${text}" PARENT_SCOPE)
endfunction()
