// Numbers as a reader takes them in.

export function size(bytes: number): string {
  let amount = bytes;
  for (const unit of ["bytes", "KB", "MB"]) {
    if (amount < 1000) return unit === "bytes" ? `${Math.round(amount)} bytes` : `${amount.toFixed(1)} ${unit}`;
    amount /= 1000;
  }
  return `${amount.toFixed(1)} GB`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** PyTorch's name of an op without its ending: "Mul" of "MulBackward0". */
export function opName(kind: string): string {
  return kind.replace(/Backward\d*$/, "") || kind;
}

/** The last part of a path. */
export function baseName(file: string): string {
  return file.split(/[\\/]/).pop() || file;
}
