internal import DocumentIndex
internal import DocumentModel
internal import StorageIO

/// The index is at the top level of the data folder, and its record is in the manifest.
extension DataFolder: IndexFolder {
    var indexRecord: IndexRecord { manifest.index }

    func updateIndexRecord(_ change: (inout IndexRecord) -> Void) throws(StatusError) {
        try update { manifest in change(&manifest.index) }
    }

    func diskSpace() throws(FileSystemError) -> (total: Int, free: Int) {
        try root.diskSpace()
    }
}

extension DataFolderManifest {
    fileprivate var index: IndexRecord {
        get { IndexRecord(openMarker: openIndex, edition: indexEdition) }
        set { (openIndex, indexEdition) = (newValue.openMarker, newValue.edition) }
    }
}
