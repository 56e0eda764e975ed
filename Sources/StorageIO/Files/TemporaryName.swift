/// The names of temporary files: `.hearth-….tmp`.
///
/// No document or collection has such a name, because a leading dot is escaped, so files left behind by a crash can be removed.
package enum TemporaryName {
    private static let prefix = ".hearth-"
    private static let suffix = ".tmp"

    /// Returns the name of the only temporary file of a kind in a folder.
    package static func fixed(_ kind: String) -> String {
        prefix + kind + suffix
    }

    /// Returns the name for a number.
    package static func numbered(_ number: UInt64) -> String {
        prefix + String(number, radix: 36) + suffix
    }

    /// Returns whether a name is that of a temporary file.
    package static func matches(_ name: [UInt8]) -> Bool {
        name.count > prefix.utf8.count + suffix.utf8.count && name.starts(with: prefix.utf8)
            && name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
