internal import DocumentModel

// The file hearth.json.

extension DataFolder {
    static let descriptionTemporary = TemporaryName.fixed("description")

    /// What a data folder says of itself; nil when it has no description.
    static func readDescription(in root: borrowing FileDescriptor) throws(StatusError) -> DatabaseDescription? {
        let bytes = try reporting("read", descriptionName) { () throws(SystemError) in
            try root.contents(ofFile: descriptionName, maximumBytes: 1 << 20)
        }
        return try bytes.map { bytes throws(StatusError) in try DatabaseDescription(bytes) }
    }

    /// Writes the description of a new data folder.
    static func makeDescription(
        _ identity: DatabaseIdentity,
        in root: borrowing FileDescriptor
    ) throws(StatusError) -> DatabaseDescription {
        let isStrict = try FileSystemProbe.confusesNames(in: root)
        let description = DatabaseDescription(
            epoch: identity.epoch,
            database: identity.id,
            naming: FileNaming(isStrict: isStrict),
            sequence: .zero,
            commitTime: nil,
            isClean: true,
            openIndex: nil,
            indexEdition: nil
        )
        try write(description, in: root)
        return description
    }

    /// Makes sure that the file system tells apart what the one told apart on which the folder was made.
    static func checkNaming(_ description: DatabaseDescription, in root: borrowing FileDescriptor) throws(StatusError) {
        guard !description.naming.isStrict, try FileSystemProbe.confusesNames(in: root) else { return }
        throw StatusError(
            .failedPrecondition,
            "The data folder was made on a file system that tells all names apart, and this one folds case or normalises Unicode, so "
                + "documents would be lost. Export the documents there and import them into a new data folder here."
        )
    }

    /// Replaces the description; on disk when this returns.
    static func write(_ description: DatabaseDescription, in root: borrowing FileDescriptor) throws(StatusError) {
        try reporting("write", descriptionName) { () throws(SystemError) in
            try root.replaceFile(descriptionName, with: description.encoded(), through: descriptionTemporary)
        }
    }
}
