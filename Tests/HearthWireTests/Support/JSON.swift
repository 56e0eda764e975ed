import HearthWire
import StrictJSON

/// Parses a JSON text.
func parsed(_ text: String) throws -> JSONNode {
    try JSONText(Array(text.utf8)).root
}

/// Returns the JSON text that a closure writes.
func written(_ write: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    write(&writer)
    return String(decoding: writer.finish(), as: UTF8.self)
}
