package import DocumentModel
package import StrictJSON
import UTF8Text

/// The fields of the `value_type` oneof.
private enum ValueKind: CaseIterable {
    case null
    case boolean
    case integer
    case double
    case timestamp
    case string
    case bytes
    case reference
    case geoPoint
    case array
    case map

    var field: ProtoField {
        switch self {
        case .null: "nullValue"
        case .boolean: "booleanValue"
        case .integer: "integerValue"
        case .double: "doubleValue"
        case .timestamp: "timestampValue"
        case .string: "stringValue"
        case .bytes: "bytesValue"
        case .reference: "referenceValue"
        case .geoPoint: "geoPointValue"
        case .array: "arrayValue"
        case .map: "mapValue"
        }
    }

    /// The kinds by both names of each field.
    static let byName: [UTF8Key: ValueKind] = allCases.reduce(into: [:]) { kinds, kind in
        kinds[kind.field.name] = kind
        kinds[kind.field.protoName] = kind
    }
}

extension Value {
    /// Decodes a value in the protocol's JSON form, such as `{"integerValue": "816"}`.
    ///
    /// Recursion is bounded by the depth limit of the JSON text.
    ///
    /// - Throws: ``StatusCode/invalidArgument``; the error's `field` is the path inside the value.
    package init(_ node: JSONNode, in database: DatabaseName, _ form: ProtoJSONForm = .standard) throws(StatusError) {
        guard var members = node.members, let (key, content) = members.next(), node.count == 1 else {
            throw node.kind == .object
                ? StatusError(
                    .invalidArgument,
                    "Expected a value with exactly one field, such as stringValue, found \(node.count)."
                )
                : node.expected("a value, such as {\"stringValue\": \"text\"}")
        }
        switch ValueKind.byName[key] {
        case .null: self = try Self.null(content)
        case .boolean: self = .boolean(try content.booleanField())
        case .integer: self = .integer(try content.integerField())
        case .double: self = .double(try content.doubleField())
        case .timestamp: self = .timestamp(try content.timestampField(form))
        case .string: self = .string(try content.stringField())
        case .bytes: self = .bytes(try content.bytesField())
        case .reference: self = .reference(try database.document(named: content.stringField()))
        case .geoPoint: self = .geoPoint(try GeoPoint(content))
        case .array: self = .array(try Self.elements(content, in: database, form))
        case .map: self = try Value(mapOrVector: MapValue(message: content, in: database, form))
        case nil:
            throw StatusError(
                .invalidArgument,
                "Invalid JSON payload received. Unknown name \(Excerpt(key.string)): Cannot find field. Expected one of: "
                    + ValueKind.allCases.map(\.field.name.string).joined(separator: ", ") + "."
            )
        }
    }

    /// Decodes null, which some clients write as the number or name of the enum's only value.
    private static func null(_ content: JSONNode) throws(StatusError) -> Value {
        guard content.isNull else { return try content.enumerationField(nullValues) }
        return .null
    }

    private static let nullValues = ProtoEnumeration<Value>([(0, "NULL_VALUE", .null)])

    private static let arrayFields: [ProtoField] = ["values"]

    /// Decodes `{"values": […]}`.
    package static func elements(
        _ node: JSONNode,
        in database: DatabaseName,
        _ form: ProtoJSONForm = .standard
    ) throws(StatusError) -> [Value] {
        let message = try ProtoMessage(node, fields: arrayFields)
        var elements: [Value] = []
        _ = try message.read("values") { node throws(StatusError) in
            guard let nodes = node.elements else { throw node.expected("an array") }
            elements.reserveCapacity(node.count)
            for node in nodes {
                do throws(StatusError) {
                    elements.append(try Value(node, in: database, form))
                } catch {
                    throw error.inside(element: elements.count)
                }
            }
        }
        return elements
    }
}

extension MapValue {
    private static let messageFields: [ProtoField] = ["fields"]

    /// Decodes `{"fields": {…}}`.
    package init(message node: JSONNode, in database: DatabaseName, _ form: ProtoJSONForm = .standard) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.messageFields)
        self = MapValue()
        _ = try message.read("fields") { node throws(StatusError) in self = try MapValue(fields: node, in: database, form) }
    }

    /// Decodes the fields of a document or map: an object of values.
    package init(fields node: JSONNode, in database: DatabaseName, _ form: ProtoJSONForm = .standard) throws(StatusError) {
        guard let members = node.members else { throw node.expected("an object of fields") }
        var values: [(key: UTF8Key, value: Value)] = []
        values.reserveCapacity(node.count)
        for (name, member) in members {
            do throws(StatusError) {
                values.append((name, try Value(member, in: database, form)))
            } catch {
                throw error.inside(field: name)
            }
        }
        self.init(values)
    }
}

extension GeoPoint {
    private static let fields: [ProtoField] = ["latitude", "longitude"]

    /// Decodes `{"latitude": …, "longitude": …}`; an absent coordinate is 0.
    fileprivate init(_ node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        try self.init(
            validatingLatitude: message.read("latitude") { node throws(StatusError) in try node.doubleField() } ?? 0,
            longitude: message.read("longitude") { node throws(StatusError) in try node.doubleField() } ?? 0
        )
    }
}
