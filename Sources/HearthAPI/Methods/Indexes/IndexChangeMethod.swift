package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON
import UTF8Text

/// A method that changes the index definitions and returns all of them.
package protocol IndexChangeMethod: RPCMethod where Context == ServiceContext, Params == IndexChange, Result == IndexReport {}

extension IndexChangeMethod {
    package static var requiredPermission: Permission { .admin }

    package static var result: ResultDescription { .indexes }

    package static func call(_ params: IndexChange, in context: ServiceContext) async throws(StatusError) -> IndexReport {
        try await context.audited(.changeIndexes, detail: name.string) { () async throws(StatusError) in
            try await context.store.changeIndexes(params)
        }
    }

    package static func write(_ result: IndexReport, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}
