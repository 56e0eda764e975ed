/// Sizes, as pages write them.
enum ByteSize {
    /// A size in the greatest unit of which there are at least ten; below that in bytes.
    static func text(_ bytes: Int) -> String {
        switch bytes {
        case (10 << 30)...: localized("{count} GiB", ["count": Counting.grouped(bytes >> 30)])
        case (10 << 20)...: localized("{count} MiB", ["count": Counting.grouped(bytes >> 20)])
        case (10 << 10)...: localized("{count} KiB", ["count": Counting.grouped(bytes >> 10)])
        default: localized(count: bytes, one: "{count} byte", other: "{count} bytes")
        }
    }
}
