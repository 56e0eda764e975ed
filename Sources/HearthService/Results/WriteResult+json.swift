import DocumentModel
import StrictJSON

extension WriteResult {
    /// Writes `{"updateTime"?: …, "transformResults"?: […]}`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        if let updateTime {
            writer.key("updateTime")
            writer.string(updateTime.rfc3339)
        }
        if !transformResults.isEmpty {
            writer.key("transformResults")
            writer.beginArray()
            for value in transformResults {
                value.write(to: &writer)
            }
            writer.endArray()
        }
        writer.endObject()
    }
}
