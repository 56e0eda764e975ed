import DocumentModel
import StrictJSON

extension Timestamp {
    /// Reads what a form keeps of a time; nil when it isn't one.
    init?(formText text: UTF8Key?) {
        guard let text, let microseconds = Int64(text.string), let time = try? Timestamp(microseconds: microseconds) else {
            return nil
        }
        self = time
    }

    /// What a form keeps of it.
    var formText: String { String(microseconds) }
}
