import DocumentModel
import StrictJSON

extension Deletion.Version {
    /// Reads what a ticked row sends: the ID in percent-encoding, a colon, and the time; nil when it isn't that.
    init?(formText text: UTF8Key, in collection: CollectionPath) {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1)
        guard parts.count == 2, let time = Timestamp(formText: UTF8Key(Substring(parts[1]))),
            let key = PercentEncoding.decode(parts[0]).flatMap({ UTF8Key(validating: $0) }),
            let id = try? DocumentID(key.string)
        else { return nil }
        self.init(path: collection.document(id), updateTime: time)
    }

    /// What a row sends when it is ticked.
    var formText: String { "\(PercentEncoding.encode(path.id.key)):\(updateTime.formText)" }
}
