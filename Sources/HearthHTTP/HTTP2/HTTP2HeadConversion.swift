import HTTPTypes
import NIOHPACK

extension HTTPRequest {
    /// Creates a request from the header list of a stream, which NIO has validated: the mandatory pseudo-header fields are there, and
    /// no field belongs to a connection.
    ///
    /// The first `Host` field becomes the authority if there is no `:authority`, or is dropped if it equals it (RFC 9113, 8.3.1); any
    /// other one remains among the fields, as in a request of HTTP/1.
    ///
    /// - Returns: `nil` if the method is not a valid token.
    init?(_ list: HPACKHeaders) {
        var method: String?
        var scheme: String?
        var authority: String?
        var path: String?
        var fields = HTTPFields()
        fields.reserveCapacity(list.count)
        for (name, value, _) in list {
            switch name {
            case ":method": method = value
            case ":scheme": scheme = value
            case ":authority": authority = value
            case ":path": path = value
            default:
                guard let name = HTTPField.Name(parsed: name) else { continue }
                if name == .secondHost, authority == nil || authority?.utf8.elementsEqual(value.utf8) == true {
                    authority = value
                } else {
                    fields.append(HTTPField(name: name, value: value))
                }
            }
        }
        guard let method = method.flatMap({ HTTPRequest.Method($0) }) else { return nil }
        self.init(method: method, scheme: scheme, authority: authority, path: path, headerFields: fields)
    }
}

extension HPACKHeaders {
    /// Creates the header list of a response, without the fields that belong to a connection (RFC 9113, 8.2.2).
    init(_ head: HTTPResponse) {
        self.init()
        reserveCapacity(head.headerFields.count + 1)
        add(name: ":status", value: String(head.status.code))
        add(head.headerFields)
    }

    /// Creates the header list of trailers.
    init(trailers: HTTPFields) {
        self.init()
        add(trailers)
    }

    private mutating func add(_ fields: HTTPFields) {
        for field in fields where !Self.connectionFields.contains(field.name) {
            // The encoder searches its table for each field, and clients choose its size. It holds fields with few values only.
            let indexing: HPACKIndexing = Self.indexedFields.contains(field.name) ? .indexable : .nonIndexable
            add(name: field.name.canonicalName, value: field.value, indexing: indexing)
        }
    }

    private static let indexedFields: [HTTPField.Name] = [
        .contentType, .cacheControl, .xContentTypeOptions, .contentSecurityPolicy, .referrerPolicy, .crossOriginResourcePolicy,
        .vary,
    ]

    private static let connectionFields: [HTTPField.Name] = [
        .connection, .transferEncoding, .upgrade, .keepAlive, .proxyConnection,
    ]
}
