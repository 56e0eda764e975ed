/// Names of the store's own files that are not finished: `.hearth-….tmp`.
///
/// No ID has such a name, because a leading dot is escaped, so what is left behind by a crash can be removed safely.
enum TemporaryName {
    private static let prefix = ".hearth-"
    private static let suffix = ".tmp"

    /// The name of the one file of a kind in a folder.
    static func fixed(_ kind: String) -> String {
        prefix + kind + suffix
    }

    /// A name for each number.
    static func numbered(_ number: UInt64) -> String {
        prefix + String(number, radix: 36) + suffix
    }

    /// Whether a file of that name is the store's own and unfinished.
    static func matches(_ name: [UInt8]) -> Bool {
        name.count > prefix.utf8.count + suffix.utf8.count && name.starts(with: prefix.utf8)
            && name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
