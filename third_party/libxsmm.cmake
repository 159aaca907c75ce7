# libxsmm: kernels for one shape, made at run time, which fetch the next part of a weight while they multiply one. Only
# where it is there; without it oneDNN multiplies what it would have. Its archive of stand-ins replaces a BLAS that it
# refers to, and that is never called.
find_path(DECODERSCOPE_LIBXSMM_INCLUDE libxsmm.h)
find_library(DECODERSCOPE_LIBXSMM_LIBRARY xsmm)
find_library(DECODERSCOPE_LIBXSMM_NOBLAS xsmmnoblas)

if(DECODERSCOPE_LIBXSMM_INCLUDE AND DECODERSCOPE_LIBXSMM_LIBRARY AND DECODERSCOPE_LIBXSMM_NOBLAS)
    add_library(decoderscope_libxsmm INTERFACE)
    add_library(decoderscope::libxsmm ALIAS decoderscope_libxsmm)
    target_include_directories(decoderscope_libxsmm SYSTEM INTERFACE ${DECODERSCOPE_LIBXSMM_INCLUDE})
    target_link_libraries(decoderscope_libxsmm INTERFACE
        ${DECODERSCOPE_LIBXSMM_LIBRARY} ${DECODERSCOPE_LIBXSMM_NOBLAS} ${CMAKE_DL_LIBS})
endif()
