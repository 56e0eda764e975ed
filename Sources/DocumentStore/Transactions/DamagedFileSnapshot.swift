package import DocumentModel

/// The contents of a damaged document file, required to overwrite it.
///
/// A damaged file's intended contents are unknown. To the writes that replace it, to watchers and to the history, the document is
/// its last committed version.
package struct DamagedFileSnapshot: Sendable {
    /// The file's raw contents, as returned by ``LocalFiles/contents(of:)``.
    package let contents: [UInt8]
    /// The document as of the last retained commit; `nil` if that commit deleted it.
    package let lastVersion: EncodedDocument?

    package init(contents: [UInt8], lastVersion: EncodedDocument?) {
        (self.contents, self.lastVersion) = (contents, lastVersion)
    }
}
