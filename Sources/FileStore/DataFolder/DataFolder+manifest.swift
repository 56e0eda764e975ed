internal import DocumentModel
internal import DocumentStore
internal import StorageIO

extension DataFolder {
    static let manifestTemporaryName = TemporaryName.fixed("description")

    /// Reads the manifest of a data folder, or returns `nil` if it has none.
    static func readManifest(in root: borrowing FileDescriptor) throws(StatusError) -> DataFolderManifest? {
        let bytes = try reporting("read", manifestName) { () throws(FileSystemError) in
            try root.contents(ofFile: manifestName, maximumBytes: 1 << 20)
        }
        return try bytes.map { bytes throws(StatusError) in try DataFolderManifest(bytes) }
    }

    /// Writes the manifest of a new data folder.
    static func createManifest(
        _ identity: DatabaseIdentity,
        in root: borrowing FileDescriptor
    ) throws(StatusError) -> DataFolderManifest {
        let isStrict = try conflatesNames(in: root)
        let manifest = DataFolderManifest(
            epoch: identity.epoch,
            database: identity.id,
            naming: FileNaming(isStrict: isStrict),
            sequence: .zero,
            commitTime: nil,
            isClean: true,
            openIndex: nil,
            indexEdition: nil
        )
        try write(manifest, in: root)
        return manifest
    }

    /// Checks that a data folder with plain names is not on a file system that conflates names.
    static func checkNaming(_ manifest: DataFolderManifest, in root: borrowing FileDescriptor) throws(StatusError) {
        guard !manifest.naming.isStrict, try conflatesNames(in: root) else { return }
        throw StatusError(
            .failedPrecondition,
            "The data folder was created on a case-sensitive file system, but this file system folds case or normalizes Unicode, "
                + "so documents would be lost. Export the documents from the original, and import them into a new data folder here."
        )
    }

    private static func conflatesNames(in root: borrowing FileDescriptor) throws(StatusError) -> Bool {
        try reporting("probe file names in", ".") { () throws(FileSystemError) in try FileSystemProbe.conflatesNames(in: root) }
    }

    /// Replaces the manifest. Durable when this returns.
    static func write(_ manifest: DataFolderManifest, in root: borrowing FileDescriptor) throws(StatusError) {
        var manifest = manifest
        let time = Timestamp.current().microseconds
        manifest.datedFiles?.manifestTime = time
        try reporting("write", manifestName) { () throws(FileSystemError) in
            try root.replaceFile(manifestName, with: manifest.encoded(), through: manifestTemporaryName)
        }
        // If this fails, or its effect is lost with the power, the folder counts as a copy: edits made until then are not told.
        setManifestTime(time, in: root)
    }

    /// Sets the modification time of the manifest, in microseconds since 1970. Returns whether the file system permits it.
    @discardableResult
    static func setManifestTime(_ time: Int64, in root: borrowing FileDescriptor) -> Bool {
        do throws(FileSystemError) {
            try root.openFile(manifestName, for: .reading).setModificationTime(microseconds: time)
            return true
        } catch {
            return false
        }
    }
}
