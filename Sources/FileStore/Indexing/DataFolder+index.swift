internal import DocumentIndex
internal import DocumentModel
internal import StorageIO

/// The index is at the top level of the data folder, and its record is in the manifest.
extension DataFolder: IndexFolder {
    var indexRecord: IndexRecord {
        let manifest = manifest
        return IndexRecord(openMarker: manifest.openIndex, edition: manifest.indexEdition)
    }

    func updateIndexRecord(_ change: (inout IndexRecord) -> Void) throws(StatusError) {
        try update { manifest in
            var record = IndexRecord(openMarker: manifest.openIndex, edition: manifest.indexEdition)
            change(&record)
            manifest.openIndex = record.openMarker
            manifest.indexEdition = record.edition
        }
    }

    func diskSpace() throws(FileSystemError) -> (total: Int, free: Int) {
        try root.diskSpace()
    }
}
