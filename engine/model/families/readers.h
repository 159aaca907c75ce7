#pragma once

namespace decoderscope::families {

struct Reading;

// Each reads the configuration of one model_type, as the class of that name in Hugging Face's transformers does: the
// same keys, defaults and meaning.

// gpt2.cpp
void read_gpt2(Reading& reading);
void read_gpt_neo(Reading& reading);
// llama.cpp: Pre-Norm with RMSNorm, RoPE, a gated MLP
void read_llama(Reading& reading);
void read_mistral(Reading& reading);
void read_qwen2(Reading& reading);
void read_qwen3(Reading& reading);
void read_olmo2(Reading& reading);
void read_phi3(Reading& reading);
// llama_with_layernorm.cpp
void read_stablelm(Reading& reading);
void read_cohere(Reading& reading);
// gemma.cpp
void read_gemma(Reading& reading);
void read_gemma2(Reading& reading);
// parallel.cpp: attention and MLP in one sum
void read_gptj(Reading& reading);
void read_gpt_neox(Reading& reading);
void read_phi(Reading& reading);
// bloom.cpp
void read_bloom(Reading& reading);
// opt.cpp
void read_opt(Reading& reading);
// bart.cpp: encoder-decoders, Post-Norm
void read_bart(Reading& reading);
void read_marian(Reading& reading);
// t5.cpp
void read_t5(Reading& reading);

}  // namespace decoderscope::families
