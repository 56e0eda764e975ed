import HearthService
import JSONRPC
import StrictJSON

/// What is documented of the calls: the OpenRPC document, read once.
struct CallReference: Sendable {
    /// A schema that others refer to by its name.
    struct Schema: Sendable {
        let name: String
        let json: String
    }

    let methods: [MethodReference]
    let schemas: [Schema]
    let description: String

    /// Reads an OpenRPC document, such as that of ``HearthMethods``.
    init(_ document: [UInt8] = HearthMethods.table.openRPCDocument) {
        // The program's own, of which clients get the very bytes.
        guard let root = try? JSONText(document).root else { preconditionFailure("the OpenRPC document is not JSON") }
        methods = root["methods"]?.elements?.map(MethodReference.init) ?? []
        schemas =
            root["components"]?["schemas"]?.members?.map { name, schema in
                Schema(name: name.string, json: JSONOutline.text(schema))
            } ?? []
        description = root["info"]?["description"]?.string ?? ""
    }
}

extension CallReference.Schema: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "name": self.name
        case "json": json
        default: nil
        }
    }
}
