import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import UTF8Text

extension Recording {
    /// Records `hearth serve`.
    static func server(_ scenario: Scenario, in scratch: URL) async throws -> Recording {
        try await record(scenario, in: scratch) { index, data, trace in
            let command = [HearthProcess.executable.path, "serve", "--data", data.path, "--port", "0"]
            let process = try TracedProcess(command, trace: trace)
            guard let address = await process.output.first(where: { _ in true }) else {
                let status = try await process.end()
                throw TracedProcess.Failure(
                    description: "hearth serve did not start; exit status \(status): \(process.errors)"
                )
            }
            let run = scenario.runs[index]
            let commits: [RecordedCommit]
            do {
                commits = try await HearthConnection.withConnection(to: ServerAddress(address)) { connection in
                    var commits: [RecordedCommit] = []
                    for round in run.rounds { commits += try await connection.commitConcurrently(round) }
                    return commits
                }
            } catch {
                try process.send(SIGKILL)
                _ = try await process.end()
                throw error
            }
            let signal = run.ending == .cleanly ? SIGTERM : SIGKILL
            try process.send(signal)
            let status = try await process.end()
            guard run.ending == .killed || status == 0 else {
                throw TracedProcess.Failure(description: "hearth serve exited with status \(status): \(process.errors)")
            }
            return commits
        }
    }
}

extension HearthConnection {
    fileprivate func commitConcurrently(_ round: [[ScenarioWrite]]) async throws -> [RecordedCommit] {
        try await withThrowingTaskGroup { group in
            for writes in round {
                group.addTask {
                    let result = try await self.call("documents.commit") { params in
                        params.key("writes")
                        params.beginArray()
                        for write in writes { write.write(to: &params) }
                        params.endArray()
                    }
                    let time = try Timestamp(rfc3339: result["commitTime"]?.string ?? "")
                    return RecordedCommit(writes: writes, time: time)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

extension ScenarioWrite {
    /// Writes an element of the `writes` parameter of `documents.commit`.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch self {
        case .create(_, let fields):
            writer.set(path, fields) { writer in
                writer.key("precondition")
                writer.beginObject()
                writer.key("exists")
                writer.boolean(false)
                writer.endObject()
            }
        case .set(_, let fields):
            writer.set(path, fields) { _ in }
        case .merge(_, let fields):
            writer.set(path, fields) { writer in
                writer.key("merge")
                writer.boolean(true)
            }
        case .delete:
            writer.key("delete")
            writer.beginObject()
            writer.key("path")
            writer.string(path.string)
            writer.endObject()
        }
        writer.endObject()
    }
}

extension JSONWriter {
    fileprivate mutating func set(_ path: DocumentPath, _ fields: MapValue, _ more: (inout JSONWriter) -> Void) {
        key("set")
        beginObject()
        key("path")
        string(path.string)
        key("fields")
        fields.write(to: &self)
        more(&self)
        endObject()
    }
}
