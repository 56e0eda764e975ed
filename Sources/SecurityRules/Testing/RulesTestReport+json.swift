internal import StrictJSON
internal import UTF8Text

extension RulesTestReport {
    /// The report in the JSON of Google's Rules API, with the `name` of each case and, in `allowedAt`, the positions of the allow
    /// statements that granted.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("issues")
        writer.beginArray()
        for issue in issues { issue.write(to: &writer) }
        writer.endArray()
        writer.key("testResults")
        writer.beginArray()
        for result in results { result.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }
}

extension RulesTestReport.Result {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("name")
        writer.string(name)
        writer.key("state")
        writer.string(isSuccess ? "SUCCESS" : "FAILURE")
        if !grants.isEmpty { writer.array("allowedAt", grants) { $1.lineAndColumn($0) } }
        let messages = debugMessages
        if !messages.isEmpty { writer.array("debugMessages", messages) { $1.string($0) } }
        if let errorPosition {
            writer.key("errorPosition")
            writer.lineAndColumn(errorPosition)
        }
        if !functionCalls.isEmpty { writer.array("functionCalls", functionCalls) { $1.call($0) } }
        if !expressionReports.isEmpty {
            writer.array("expressionReports", expressionReports.filter { !isReportOfVisited || $0.count > 0 }) {
                $0.write(to: &$1, skipsUnevaluated: isReportOfVisited)
            }
        }
        writer.endObject()
    }

    /// The reasons of a denial, and what rules passed to `debug`.
    private var debugMessages: [String] {
        var messages = denials.compactMap { denial in
            denial.error.map { "Error: line [\($0.position.line)], column [\($0.position.column)]. \($0.message)" }
        }
        if !isSuccess, !isAllowed { messages.append(explanation) }
        return messages + debugOutput.map { "debug: \($0)" }
    }
}

extension JSONWriter {
    fileprivate mutating func array<Element>(
        _ name: StaticString,
        _ elements: [Element],
        _ write: (Element, inout JSONWriter) -> Void
    ) {
        key(name)
        beginArray()
        for element in elements { write(element, &self) }
        endArray()
    }

    fileprivate mutating func lineAndColumn(_ position: SourcePosition) {
        beginObject()
        key("line")
        integer(Int64(position.line))
        key("column")
        integer(Int64(position.column))
        endObject()
    }

    fileprivate mutating func call(_ call: DocumentFunctionCall) {
        beginObject()
        key("function")
        string(call.function.rawValue)
        key("args")
        beginArray()
        string(call.path.text?.string ?? "")
        endArray()
        endObject()
    }
}
