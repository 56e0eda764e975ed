package import DocumentModel
package import StorageIO

/// The folder that contains the files of an index, and the durable record of the index's state.
///
/// A store implements it. File names are relative to the folder.
package protocol IndexFolder: AnyObject, Sendable {
    /// The record of the state of the index.
    var indexRecord: IndexRecord { get }

    /// Updates the record. Durable when this returns.
    func updateIndexRecord(_ change: (inout IndexRecord) -> Void) throws(StatusError)

    /// Returns the identity of a file; `nil` if there is no regular file of that name.
    func identity(ofFile name: String) throws(StatusError) -> FileIdentity?

    /// Opens a file for reading.
    func openFile(_ name: String) throws(StatusError) -> FileDescriptor

    /// Returns whether a file or folder exists.
    func contains(_ name: String) throws(StatusError) -> Bool

    /// Creates an empty file.
    func createFile(_ name: String) throws(StatusError)

    /// Creates an empty file and unlinks it, so that it is deleted on close.
    func createUnlinkedFile(_ name: String) throws(StatusError) -> FileDescriptor

    /// Reads up to `maximumBytes` bytes of a file; `nil` if it doesn't exist.
    func contents(ofFile name: String, maximumBytes: Int) throws(StatusError) -> [UInt8]?

    /// Replaces a file atomically. Durable when this returns.
    func replaceFile(_ name: String, with bytes: [UInt8]) throws(StatusError)

    /// Removes a file, if it exists.
    func removeFile(_ name: String) throws(StatusError)

    /// Renames a file or folder to an unused name.
    func moveAside(_ name: String) throws(StatusError)

    /// Syncs a file.
    func synchronizeFile(_ name: String) throws(StatusError)

    /// The size of the folder's file system, and its free space.
    func diskSpace() throws(FileSystemError) -> (total: Int, free: Int)
}

/// The durable record of the state of an index; see ``IndexFile``.
package struct IndexRecord: Hashable, Sendable {
    /// The marker of an open index, set while the index is written; `nil` if the index is durable.
    package var openMarker: String?
    /// The edition of the last durable index.
    package var edition: String?

    /// Creates a record.
    package init(openMarker: String?, edition: String?) {
        self.openMarker = openMarker
        self.edition = edition
    }
}
