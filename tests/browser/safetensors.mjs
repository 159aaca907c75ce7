// Files of tensors: an 8-byte length, a header in JSON, the numbers.

// {metadata, tensors: [{name, dtype, shape, bytes}]}, in the order of the data.
export function parsed(file) {
    const begin = 8 + Number(file.readBigUInt64LE());
    const {__metadata__: metadata = {}, ...entries} = JSON.parse(file.subarray(8, begin));
    const tensors = Object.entries(entries).map(([name, {dtype, shape, data_offsets: [from, to]}]) =>
        ({name, dtype, shape, from, to, bytes: file.subarray(begin + from, begin + to)}));
    return {metadata, tensors: tensors.sort((a, b) => a.from - b.from)};
}

export function written({metadata, tensors}) {
    const header = {__metadata__: metadata};
    let at = 0;
    for (const {name, dtype, shape, bytes} of tensors) header[name] = {dtype, shape, data_offsets: [at, at += bytes.length]};
    const text = Buffer.from(JSON.stringify(header));
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(text.length));
    return Buffer.concat([size, text, ...tensors.map(({bytes}) => bytes)]);
}

const readers = {
    F32: [4, (view, at) => view.getFloat32(at, true)],
    I64: [8, (view, at) => Number(view.getBigInt64(at, true))],
};
// The numbers of a tensor, as JavaScript has them: each is exact.
export function numbers({dtype, bytes}) {
    const [size, read] = readers[dtype];
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return Array.from({length: bytes.length / size}, (_, i) => read(view, i * size));
}
