#pragma once

#include "engine/mutations/mutation.h"

#include <vector>

// The mutations, a family a file. Each function adds its own to the list.
namespace decoderscope::mutations_of {

void scale(std::vector<Mutation>& list);
void masks(std::vector<Mutation>& list);
void fills(std::vector<Mutation>& list);
void softmax(std::vector<Mutation>& list);
void residual(std::vector<Mutation>& list);
void norms(std::vector<Mutation>& list);
void projections(std::vector<Mutation>& list);
void heads(std::vector<Mutation>& list);
void positions(std::vector<Mutation>& list);
void rope(std::vector<Mutation>& list);
void mlp(std::vector<Mutation>& list);
void embedding(std::vector<Mutation>& list);
void encoder(std::vector<Mutation>& list);
void output(std::vector<Mutation>& list);
void training(std::vector<Mutation>& list);

}  // namespace decoderscope::mutations_of
