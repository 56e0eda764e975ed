package import DocumentModel

/// The damaged file of a document as somebody has seen it who writes the document anew.
///
/// Nobody knows what the file was to hold. To the writes, and to those who watch or look back, the document is what its last commit
/// had made of it.
package struct SeenDamage: Sendable {
    /// What is in the file: ``DocumentStore/file(of:)``.
    let file: [UInt8]
    /// The document as of the last commit that is kept; nil where that has deleted it.
    let lastVersion: EncodedDocument?

    package init(file: [UInt8], lastVersion: EncodedDocument?) {
        (self.file, self.lastVersion) = (file, lastVersion)
    }
}

extension DocumentInstaller {
    /// What counts as the document whose file was seen to be damaged.
    ///
    /// - Throws: `.failedPrecondition` when the file is no longer as it was seen.
    mutating func document(at path: DocumentPath, damagedAs seen: SeenDamage) throws(StatusError) -> EncodedDocument? {
        guard isDamaged(path), try files.bytes(of: path) == seen.file else {
            throw StatusError(
                .failedPrecondition,
                "The damaged file of the document has been changed since it was looked at. Look at it again and decide anew.",
                path: path.string
            )
        }
        return seen.lastVersion
    }

    private mutating func isDamaged(_ path: DocumentPath) -> Bool {
        do throws(StatusError) {
            _ = try document(at: path)
            return false
        } catch {
            return error.code == .dataLoss
        }
    }
}
