internal import DocumentModel

/// The versions of a document that replayed commits have replaced.
///
/// A file with the fields of one of them may be that of a commit which was not applied to it before the crash, whatever its times are:
/// `chown -R` and `cp -al`, for example, change the time of the last change of all files. It cannot be told from an edit that restores
/// the version, and acknowledged commits come before that edit.
struct ReplacedVersions: Sendable {
    /// The hashes of the encoded fields, which need a small part of the memory. Two versions with the same one would cost an edit, but
    /// never a commit.
    private var hashes: Set<Int> = []
    /// False if the journal does not have one of the versions: it has the before-image only of a document's first change in a segment.
    private(set) var isComplete = true

    /// Adds a version that a commit has replaced.
    mutating func insert(_ version: EncodedDocument) {
        hashes.insert(Self.hash(of: version.fieldsJSON))
    }

    /// Adds a version that is not known.
    mutating func insertUnknown() {
        isComplete = false
    }

    /// Returns whether one of the known versions has the given encoded fields.
    func contains(fieldsJSON: [UInt8]) -> Bool {
        !hashes.isEmpty && hashes.contains(Self.hash(of: fieldsJSON))
    }

    private static func hash(of fieldsJSON: [UInt8]) -> Int {
        var hasher = Hasher()
        fieldsJSON.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
