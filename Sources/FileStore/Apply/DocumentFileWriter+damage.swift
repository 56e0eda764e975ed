internal import DocumentModel
internal import DocumentStore

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
