package import UTF8Text

extension [UInt8] {
    /// Returns a JSON object with a string member inserted before its others, none of which may have the same key.
    ///
    /// Returns the bytes unchanged if they are not an object.
    package func addingMember(_ key: UTF8Key, _ value: String) -> [UInt8] {
        guard let start = firstIndex(where: { !$0.isJSONWhitespace }), self[start] == UInt8(ascii: "{") else { return self }
        var writer = JSONWriter(reservingCapacity: count + key.byteCount + value.utf8.count + 32)
        writer.beginObject()
        writer.key(key)
        writer.string(value)
        writer.endObject()
        let others = self[(start + 1)...].drop(while: \.isJSONWhitespace)
        return writer.finish().dropLast() + (others.first == UInt8(ascii: "}") ? [] : [UInt8(ascii: ",")]) + others
    }
}
