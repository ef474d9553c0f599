package io.swagger.annotations;

/** What generated classes are marked with; Debian packages only its successor, and nothing here reads it. */
public @interface ApiModel {
  String value() default "";

  String description() default "";
}
