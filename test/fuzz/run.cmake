# One fuzzing run: seeds copied into an empty folder, a fixed seed, a time limit. Bytes that break
# something stay in WORK/found-*, and the run fails.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/corpus)
string(REPLACE "|" ";" patterns "${SEEDS}")
set(count 0)
foreach(pattern IN LISTS patterns)
    file(GLOB_RECURSE found ${SOURCE}/${pattern})
    foreach(path IN LISTS found)
        math(EXPR count "${count} + 1")
        configure_file(${path} ${WORK}/corpus/seed-${count} COPYONLY)
    endforeach()
endforeach()
if(count EQUAL 0)
    message(FATAL_ERROR "no seeds in ${SEEDS}")
endif()
execute_process(COMMAND ${PROGRAM} -seed=1 -max_total_time=${SECONDS} -timeout=10 -rss_limit_mb=2048
    -max_len=20000 -print_final_stats=1 -verbosity=0 -artifact_prefix=${WORK}/found- ${WORK}/corpus
    WORKING_DIRECTORY ${WORK} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "fuzzing failed (${result}); see ${WORK}/found-*")
endif()
