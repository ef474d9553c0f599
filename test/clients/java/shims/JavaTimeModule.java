package com.fasterxml.jackson.datatype.jsr310;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import java.io.IOException;
import java.time.OffsetDateTime;

/** The one part of Jackson that generated clients need and Debian does not package: times as RFC 3339. */
public class JavaTimeModule extends SimpleModule {
  public JavaTimeModule() {
    addSerializer(
        new StdSerializer<OffsetDateTime>(OffsetDateTime.class) {
          @Override
          public void serialize(OffsetDateTime time, JsonGenerator out, SerializerProvider provider)
              throws IOException {
            out.writeString(time.toString());
          }
        });
    addDeserializer(
        OffsetDateTime.class,
        new StdDeserializer<OffsetDateTime>(OffsetDateTime.class) {
          @Override
          public OffsetDateTime deserialize(JsonParser in, DeserializationContext context)
              throws IOException {
            return OffsetDateTime.parse(in.getText());
          }
        });
  }
}
