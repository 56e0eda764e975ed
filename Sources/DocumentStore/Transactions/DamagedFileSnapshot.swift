package import DocumentModel

/// The contents of a damaged document file, required to overwrite it.
///
/// A damaged file's intended contents are unknown. To the writes that replace it, to watchers and to the history, the document is its
/// last committed version.
package struct DamagedFileSnapshot: Sendable {
    /// The file's raw contents, as returned by ``DocumentStore/file(of:)``.
    let contents: [UInt8]
    /// The document as of the last retained commit; nil when that commit deleted it.
    let lastVersion: EncodedDocument?

    package init(contents: [UInt8], lastVersion: EncodedDocument?) {
        (self.contents, self.lastVersion) = (contents, lastVersion)
    }
}

extension DocumentFileWriter {
    /// Returns the version that stands in for a document with a damaged file.
    ///
    /// - Throws: `.failedPrecondition` when the file is not damaged, or its contents have changed.
    mutating func document(
        at path: DocumentPath,
        replacing damagedFile: DamagedFileSnapshot
    ) throws(StatusError) -> EncodedDocument? {
        guard isDamaged(path), try files.bytes(of: path) == damagedFile.contents else {
            throw StatusError(
                .failedPrecondition,
                "The damaged file of the document has changed since it was read. Read it again before overwriting it.",
                path: path.string
            )
        }
        return damagedFile.lastVersion
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
