# SPDX-License-Identifier: Apache-2.0
# The test of the installation, as a script: installs `build`, moves the installed tree (it must not know where it
# was), builds `consumer` against it in `scratch`, and runs the consumer's own tests.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " words)
    message(FATAL_ERROR "this failed (${status}): ${words}")
  endif()
endfunction()

file(REMOVE_RECURSE "${scratch}")
run("${CMAKE_COMMAND}" --install "${build}" --prefix "${scratch}/installed")
file(RENAME "${scratch}/installed" "${scratch}/moved")

# What shells and manuals look for.
foreach(file IN ITEMS "${mandir}/man1/tutti.1" "${datadir}/bash-completion/completions/tutti"
    "${datadir}/zsh/site-functions/_tutti" "${datadir}/fish/vendor_completions.d/tutti.fish")
  if(NOT EXISTS "${scratch}/moved/${file}")
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

# What `tutti export` tells users of NCCL to load lies in the tree that was moved.
file(WRITE "${scratch}/nccl.toml" "version = 1\npeer = \"nccl\"\n[machine]\nfingerprint = \"any\"\n[[section]]\n"
  "collective = \"all_reduce\"\nranks = 8\n[[section.range]]\nalgorithm = \"ring_ll\"\n")
execute_process(COMMAND "${scratch}/moved/${bindir}/tutti" export --to nccl "${scratch}/nccl.toml"
  OUTPUT_QUIET ERROR_VARIABLE told COMMAND_ERROR_IS_FATAL ANY)
set(plugin "${scratch}/moved/${libdir}/libnccl-tuner-tutti.so")
string(FIND "${told}" "NCCL_TUNER_PLUGIN=${plugin} " at)
if(at EQUAL -1 OR NOT EXISTS "${plugin}")
  message(FATAL_ERROR "the plugin was to be ${plugin}; tutti export says: ${told}")
endif()

# The layers are inside the library: nothing of them is to be seen from outside.
file(GLOB_RECURSE archives "${scratch}/moved/*.a")
if(archives)
  message(FATAL_ERROR "static libraries were installed: ${archives}")
endif()
file(GLOB_RECURSE texts "${scratch}/moved/*.cmake" "${scratch}/moved/*.pc")
foreach(text IN LISTS texts)
  file(READ "${text}" content)
  foreach(leak IN ITEMS "${build}" "${scratch}/installed" "tutti_base" "fmt::")
    string(FIND "${content}" "${leak}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${text} names ${leak}, which is not there for those who install Tutti")
    endif()
  endforeach()
endforeach()

set(ENV{PKG_CONFIG_PATH} "${scratch}/moved/${libdir}/pkgconfig")
run("${CMAKE_COMMAND}" -S "${consumer}" -B "${scratch}/consumer" -G "${generator}"
    -D "CMAKE_C_COMPILER=${c_compiler}" -D "CMAKE_CXX_COMPILER=${cxx_compiler}"
    -D "CMAKE_PREFIX_PATH=${scratch}/moved" -D "expected_version=${version}"
    -D "examples=${examples}" -D "datadir=${datadir}" -D "tutti=${scratch}/moved/${bindir}/tutti")
run("${CMAKE_COMMAND}" --build "${scratch}/consumer")
run("${CMAKE_CTEST_COMMAND}" --test-dir "${scratch}/consumer" --output-on-failure --no-tests=error)
