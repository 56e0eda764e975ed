/// Formats sizes in bytes.
enum ByteSize {
    /// Formats a size in the largest unit whose value is at least ten.
    static func text(_ bytes: Int) -> String {
        switch bytes {
        case (10 << 30)...: localized("{count} GiB", ["count": NumberFormat.grouped(bytes >> 30)])
        case (10 << 20)...: localized("{count} MiB", ["count": NumberFormat.grouped(bytes >> 20)])
        case (10 << 10)...: localized("{count} KiB", ["count": NumberFormat.grouped(bytes >> 10)])
        default: localized(count: bytes, one: "{count} byte", other: "{count} bytes")
        }
    }
}
