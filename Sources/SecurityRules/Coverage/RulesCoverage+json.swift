package import StrictJSON
internal import UTF8Text

extension RulesCoverage {
    /// Returns the coverage report in the JSON of Firestore's emulator: the rules, and for each expression its position, its
    /// values and its parts. An expression without `values` was never evaluated.
    ///
    /// - Parameter fileName: The name of the rules file in the report.
    package func emulatorJSON(of ruleset: Ruleset, fileName: String = "security.rules") -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("rules")
        writer.beginObject()
        writer.key("files")
        writer.beginArray()
        writer.beginObject()
        writer.key("name")
        writer.string(fileName)
        writer.key("content")
        writer.string(ruleset.program.source.text)
        writer.endObject()
        writer.endArray()
        writer.endObject()
        writer.key("report")
        writer.beginArray()
        for report in reports(of: ruleset) { report.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }
}

extension RulesCoverage.Report {
    /// Writes the report and those of its parts.
    package func write(to writer: inout JSONWriter) {
        write(to: &writer, skipsUnevaluated: false)
    }

    /// Writes the report.
    ///
    /// - Parameter skipsUnevaluated: True to leave out parts that were never evaluated.
    func write(to writer: inout JSONWriter, skipsUnevaluated: Bool) {
        writer.beginObject()
        writer.key("sourcePosition")
        position.write(to: &writer)
        if !values.isEmpty {
            writer.key("values")
            writer.beginArray()
            for value in values {
                writer.beginObject()
                writer.key("value")
                writer.string(value.text)
                writer.key("count")
                writer.integer(Int64(value.count))
                writer.endObject()
            }
            writer.endArray()
        }
        writer.key("children")
        writer.beginArray()
        for child in children where !skipsUnevaluated || child.count > 0 {
            child.write(to: &writer, skipsUnevaluated: skipsUnevaluated)
        }
        writer.endArray()
        writer.endObject()
    }
}

extension SourcePosition {
    /// Writes the position: the line and column from 1, and the offsets of the first and the last scalar from 0.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("line")
        writer.integer(Int64(line))
        writer.key("column")
        writer.integer(Int64(column))
        writer.key("currentOffset")
        writer.integer(Int64(offset))
        writer.key("endOffset")
        writer.integer(Int64(endOffset))
        writer.endObject()
    }
}

extension RulesIssue {
    /// Writes the issue in the JSON of Firestore's emulator: `{"sourcePosition", "description", "severity"}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("sourcePosition")
        position.write(to: &writer)
        writer.key("description")
        writer.string(message)
        writer.key("severity")
        writer.string(severity.rawValue)
        writer.endObject()
    }
}

extension RulesIssue {
    /// Returns issues in the JSON of Firestore's emulator: `{"issues": […]}`.
    package static func emulatorJSON(_ issues: [RulesIssue]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("issues")
        writer.beginArray()
        for issue in issues { issue.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }
}
